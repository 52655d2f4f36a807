import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { messageOf } from '../../../src/base/errors.js';
import { attach, type AttachedTerminal } from '../../harness/attached-terminal.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { recordingProxy } from '../../harness/recording-proxy.js';
import { runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge, type BridgeOptions, type TestBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);
const ASKS = 'Do you want to proceed?';
/** The background service ends 5 s after its last session. */
const POLL = { timeout: 30_000, interval: 100 };

const entriesSchema = z.array(
  z.looseObject({
    id: z.string(),
    pid: z.number().optional(),
    name: z.string().optional(),
    status: z.string().optional(),
    state: z.string().optional(),
  }),
);
type Entry = z.infer<typeof entriesSchema>[number];
const recordSchema = z.looseObject({
  keeper: z.object({ pid: z.number() }),
  agent: z.object({ pid: z.number() }).nullable(),
  decisions: z.array(z.object({ verdict: z.string().nullable(), answered_by: z.string().nullable() })),
});

/** A bridge, and the background sessions of its person. */
interface Place extends TestBridge {
  readonly claude: (...args: string[]) => Promise<string>;
  readonly listed: () => Promise<Entry[]>;
  /** The only session, once it has a process. */
  readonly session: () => Promise<Entry & { readonly pid: number }>;
  readonly open: (id: string) => Promise<AttachedTerminal>;
  readonly background: (more?: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly record: (taskId: string) => Promise<z.infer<typeof recordSchema>>;
  /** Resolves when only the server runs: Claude Code's service has ended, too. */
  readonly nothingRuns: () => Promise<void>;
}

async function placeOf(binary: string, options: Omit<BridgeOptions, 'claude'>): Promise<Place> {
  const bridge = await startBridge({ claude: binary, ...options });
  const claude = async (...args: string[]): Promise<string> =>
    (await run(binary, args, { env: { ...bridge.env }, cwd: bridge.project })).stdout;
  const listed = async (): Promise<Entry[]> =>
    entriesSchema.parse(JSON.parse(await claude('agents', '--json', '--all')));
  return Object.assign(bridge, {
    claude,
    listed,
    session: async () => {
      const [entry] = await listed();
      if (entry?.pid === undefined) throw new Error(`no session runs: ${JSON.stringify(entry)}`);
      return { ...entry, pid: entry.pid };
    },
    open: (id: string) => attach(bridge, { shell: `exec '${binary}' attach ${id}`, cwd: bridge.project }),
    background: (more = {}) =>
      bridge.start({
        prompt: 'Make it.',
        path: bridge.project,
        driver: 'background',
        permission_mode: 'cautious',
        ...more,
      }),
    record: async (taskId: string) => {
      const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
      return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    },
    nothingRuns: () => expect.poll(() => bridge.workplace.processes(), POLL).toEqual([bridge.mcp.pid]),
  });
}

/** Each waits for Claude Code's service to end, so most run in the long form alone. */
const inLongForm = test.runIf(process.env['SOAK'] === '1');

/** A command that leaves a process in a session of its own, and goes on. */
const STAYS = '(setsid sleep 300 &); sleep 300';

describeNewestClaude('the background driver', ({ binary }) => {
  test('finishes a task with a decision, which stands in the agent view meanwhile', async () => {
    const prints =
      'touch made; echo "MARK=$CLAUDE_CODE_BRIDGE_MARK TOKEN=$CLAUDE_CODE_BRIDGE_HOOK_TOKEN KEY=$ANTHROPIC_API_KEY"';
    const place = await placeOf(binary, { script: [runs(prints), says('It is made.')] });
    const id = await place.background();
    const asked = await place.decision(id);
    expect(asked).toMatchObject({ kind: 'permission', tool: 'Bash' });
    await expect.poll(place.listed, POLL).toMatchObject([{ name: `${id} Make it.`, status: 'waiting' }]);
    const session = await place.session();
    expect((await place.record(id)).agent?.pid).toBe(session.pid);
    expect((await place.output(id, 'log')).text).toContain(`In Claude Code: claude attach ${session.id}`);
    expect((await place.output(id, 'screen')).text).toContain('touch made');
    await place.respond(id, asked, { verdict: 'allow' });
    expect(await place.end(id)).toMatchObject({
      status: 'completed',
      reason: 'The agent finished its work.',
      last_output: 'It is made.',
      exit_code: null,
    });
    expect(existsSync(join(place.project, 'made'))).toBe(true);
    expect(place.api.requests.flatMap(({ toolResults }) => toolResults).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^MARK=\S{20,} TOKEN= KEY=$/),
    ]);
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  inLongForm('denies, takes a message, interrupts a turn, and edits in a git repository', async () => {
    const script = [
      runs('touch refused'),
      says('The first turn is over.'),
      { tools: [{ name: 'Bash', input: { command: 'echo x > written', description: 'writes' } }] },
      says('The second turn is over.'),
      thinksForEver,
      says('The last turn is over.'),
    ];
    const place = await placeOf(binary, { script });
    execFileSync('git', ['init', '-q'], { cwd: place.project });
    const id = await place.background({ keep_open: true });
    await place.answerNext(id, { verdict: 'deny', message: 'Not today.' });
    await place.until(id, ({ status, reason }) => status === 'waiting' && reason.includes('message'));
    expect(existsSync(join(place.project, 'refused'))).toBe(false);
    expect(place.api.requests.flatMap(({ toolResults }) => toolResults).at(-1)?.text).toContain('Not today.');
    await place.call('message_task', { task_id: id, text: 'Go on,\nplease.' });
    await place.answerNext(id, { verdict: 'allow' });
    await place.until(id, ({ status, reason }) => status === 'waiting' && reason.includes('message'));
    expect(existsSync(join(place.project, 'written'))).toBe(true);
    await place.call('message_task', { task_id: id, text: 'Think.' });
    await expect.poll(() => place.api.turnsServed, POLL).toBe(5);
    await place.call('message_task', { task_id: id, text: 'Stop that.', interrupt: true });
    await place.until(id, ({ last_output }) => last_output.includes('The last turn is over.'));
    await place.call('kill_task', { task_id: id });
    expect(await place.end(id)).toMatchObject({ status: 'killed' });
    await place.nothingRuns();
  });

  inLongForm('kill_task ends the session with all that it started', async () => {
    const place = await placeOf(binary, { script: [runs(STAYS)] });
    const id = await place.background();
    await place.answerNext(id, { verdict: 'allow' });
    await expect.poll(async () => (await place.workplace.processes()).length, POLL).toBeGreaterThan(6);
    await place.call('kill_task', { task_id: id });
    expect(await place.end(id)).toMatchObject({ status: 'killed' });
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  inLongForm('kill_task ends the session also when its folder was moved', async () => {
    const place = await placeOf(binary, { script: [thinksForEver] });
    const id = await place.background();
    await place.until(id, ({ status }) => status === 'running');
    await rename(place.project, `${place.project}-moved`);
    await place.call('kill_task', { task_id: id });
    expect(await place.status(id)).toMatchObject({ status: 'killed' });
    await mkdir(place.project, { recursive: true });
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  inLongForm('kill_task while the session is being started leaves nothing', async () => {
    const place = await placeOf(binary, { script: [thinksForEver] });
    const starting = place.background();
    const begun = async (): Promise<string | undefined> => {
      const { tasks } = z
        .object({ tasks: z.array(z.looseObject({ task_id: z.string() })) })
        .parse(await place.call('list_tasks'));
      return tasks[0]?.task_id;
    };
    await expect.poll(begun, { timeout: 10_000, interval: 20 }).toBeDefined();
    const id = (await begun()) ?? '';
    await place.call('kill_task', { task_id: id });
    await starting.catch(() => undefined);
    expect(await place.end(id)).toMatchObject({ status: 'killed' });
    await place.nothingRuns();
  });

  inLongForm('a session that was killed has failed, and Claude Code does not start it again', async () => {
    const place = await placeOf(binary, { script: [runs(STAYS)] });
    const id = await place.background();
    await place.answerNext(id, { verdict: 'allow' });
    process.kill((await place.session()).pid, 'SIGKILL');
    const end = await place.end(id);
    expect(end.status).toBe('failed');
    expect(end.reason).toContain('it was killed, or it crashed');
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  inLongForm('a session that its person stops has failed with that reason', async () => {
    const place = await placeOf(binary, { script: [thinksForEver] });
    const id = await place.background();
    await place.claude('stop', (await place.session()).id);
    const end = await place.end(id);
    expect(end.status).toBe('failed');
    expect(end.reason).toContain('was stopped in Claude Code');
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  test('a keeper that was killed leaves no session, and the project is free', async () => {
    const place = await placeOf(binary, { script: [runs(STAYS), says('The next one is done.')] });
    const id = await place.background();
    await place.answerNext(id, { verdict: 'allow' });
    process.kill((await place.record(id)).keeper.pid, 'SIGKILL');
    const end = await place.end(id);
    expect(end.status).toBe('error');
    expect(end.reason).toContain('ended without a word');
    expect(await place.listed()).toEqual([]);
    expect(await place.end(await place.background())).toMatchObject({ status: 'completed' });
    await place.nothingRuns();
  });

  inLongForm('a keeper that was killed while it starts the session leaves none', async () => {
    const place = await placeOf(binary, {
      script: ({ userText }) => (userText.includes('Again') ? says('Done.') : thinksForEver),
    });
    const starting = place.background().catch(messageOf);
    const tasks = join(place.workplace.stateDir, 'tasks');
    const begun = async (): Promise<string | undefined> => {
      const [id] = existsSync(tasks) ? await readdir(tasks) : [];
      return id !== undefined && existsSync(join(tasks, id, 'background.json')) ? id : undefined;
    };
    await expect.poll(begun, { timeout: 20_000, interval: 5 }).toBeDefined();
    const id = (await begun()) ?? '';
    process.kill((await place.record(id)).keeper.pid, 'SIGKILL');
    await starting;
    const next = await place.start({ prompt: 'Again.', path: place.project, driver: 'print' });
    expect(await place.end(next)).toMatchObject({ status: 'completed' });
    // Without a service Claude Code removes nothing from its list, and one that never had a client stays.
    const left = (await place.listed()).filter(({ pid, state }) => pid !== undefined || state !== 'failed');
    expect(left).toEqual([]);
    await place.claude('daemon', 'stop', '--any');
    await place.nothingRuns();
  });

  inLongForm('a session that Claude Code starts again goes on', async () => {
    const script = [says('The first.'), says('The second.'), says('The third.')];
    const place = await placeOf(binary, { script });
    const id = await place.background({ keep_open: true });
    const turn = (words: string) =>
      place.until(id, ({ status, last_output }) => status === 'waiting' && last_output.includes(words));
    await turn('The first.');
    const before = await place.session();
    await place.claude('respawn', before.id);
    await expect
      .poll(async () => (await place.record(id)).agent?.pid, POLL)
      .not.toBeOneOf([before.pid, undefined]);
    await place.call('message_task', { task_id: id, text: 'Go on.' });
    await turn('The second.');
    await place.call('kill_task', { task_id: id });
    await place.nothingRuns();
  });

  test('what is answered with claude attach first is withdrawn, and the task goes on', async () => {
    const script = [
      runs('touch first'),
      runs('touch second; until [ -e go-on ]; do sleep 0.1; done'),
      runs('touch third'),
      says('All are made.'),
    ];
    const place = await placeOf(binary, { script });
    const id = await place.background();
    const closed = async (): Promise<string[]> =>
      (await place.record(id)).decisions.flatMap(({ verdict, answered_by }) =>
        verdict === null ? [] : `${verdict} ${answered_by}`,
      );
    await place.decision(id);
    const terminal = await place.open((await place.session()).id);
    await terminal.sees(ASKS);
    await terminal.sees('touch first');
    await terminal.press('1', terminal.sees('touch second'));
    await expect.poll(async () => (await closed())[0], POLL).toBe('withdrawn session');
    // This command is still running when the bridge knows of the answer.
    await terminal.press('1', expect.poll(closed, POLL).toEqual(['withdrawn session', 'withdrawn terminal']));
    await writeFile(join(place.project, 'go-on'), '');
    await place.answerNext(id, { verdict: 'allow' });
    expect(await place.end(id)).toMatchObject({ status: 'completed', last_output: 'All are made.' });
    for (const name of ['first', 'second', 'third']) expect(existsSync(join(place.project, name))).toBe(true);
    await place.nothingRuns();
  });

  inLongForm('goes on when the background service is killed, and leaves the new one alone', async () => {
    const place = await placeOf(binary, {
      script: [runs('touch begun; until [ -e go-on ]; do sleep 0.1; done'), says('It went on.')],
    });
    const id = await place.background();
    await place.answerNext(id, { verdict: 'allow' });
    const lock = join(place.workplace.homeDir, '.claude', 'daemon.lock');
    const serviceOf = async (): Promise<number> =>
      z.object({ pid: z.number() }).parse(JSON.parse(await readFile(lock, 'utf8'))).pid;
    const first = await serviceOf();
    process.kill(first, 'SIGKILL');
    // The terminal of the task starts another one.
    await expect.poll(serviceOf, POLL).not.toBe(first);
    await writeFile(join(place.project, 'go-on'), '');
    expect(await place.end(id)).toMatchObject({ status: 'completed', last_output: 'It went on.' });
    expect((await place.output(id, 'log')).text).not.toContain('that still ran');
    expect(await place.listed()).toEqual([]);
    await place.nothingRuns();
  });

  inLongForm('two tasks at once do not disturb each other', async () => {
    const place = await placeOf(binary, {
      projects: ['one', 'two'],
      script: ({ toolResults, userText }) =>
        toolResults.length > 0 ? says('Done.') : runs(userText.includes('stay') ? STAYS : 'touch made'),
    });
    const [one = '', two = ''] = place.projects;
    const stays = await place.background({ prompt: 'Please stay.', path: one });
    const makes = await place.background({ prompt: 'Make it.', path: two });
    await place.answerNext(stays, { verdict: 'allow' });
    await place.answerNext(makes, { verdict: 'allow' });
    expect(await place.end(makes)).toMatchObject({ status: 'completed', last_output: 'Done.' });
    expect(await place.listed()).toMatchObject([{ status: 'busy' }]);
    await place.call('kill_task', { task_id: stays });
    expect(await place.end(stays)).toMatchObject({ status: 'killed' });
    await place.nothingRuns();
  });

  inLongForm('a prompt of 250 KB arrives whole, and a longer one is refused', async () => {
    const prompt = `--begin "$(x)" ${'lorem ipsum '.repeat(20_000)} the end`;
    const place = await placeOf(binary, { script: [says('Read all.')] });
    const longer = { prompt: prompt.repeat(2), path: place.project, driver: 'background' };
    expect(await place.refusal('start_task', longer)).toContain('Claude Code takes 262144');
    expect(await place.end(await place.background({ prompt }))).toMatchObject({ status: 'completed' });
    expect(place.api.requests.some(({ userText }) => userText.includes(prompt))).toBe(true);
    await place.nothingRuns();
  });

  inLongForm(
    'leaves the sessions of its person alone, and commands see nothing of their environment',
    async () => {
      const script = [says('Of the person.'), runs('env; echo shown'), says('Of the task.')];
      const place = await placeOf(binary, { script });
      const env = { ...place.env, GITHUB_TOKEN: 'of-the-person' };
      await run(binary, ['--bg', '-n', 'mine', 'Say something.'], { env, cwd: place.project });
      await expect.poll(place.listed, POLL).toMatchObject([{ name: 'mine', status: 'idle' }]);
      const mine = await place.session();
      const id = await place.background({ permission_mode: 'auto' });
      expect(await place.end(id)).toMatchObject({ status: 'completed', last_output: 'Of the task.' });
      const [shown] = place.api.requests.flatMap(({ toolResults }) => toolResults);
      expect(shown?.text).toContain('shown');
      expect(shown?.text).not.toContain('of-the-person');
      expect(await place.listed()).toMatchObject([{ id: mine.id, pid: mine.pid, status: 'idle' }]);
      await place.claude('stop', mine.id);
      await place.nothingRuns();
    },
  );

  test('is refused where it cannot work', async () => {
    const place = await placeOf(binary, { trusted: false });
    const refused = (more: Readonly<Record<string, unknown>>): Promise<string> =>
      place.refusal('start_task', { prompt: 'Go.', path: place.project, driver: 'background', ...more });
    expect(await refused({})).toContain('Workspace not trusted');
    expect(await refused({ isolation: 'docker' })).toContain('INVALID_ARGUMENTS');
    expect(await refused({ permission_mode: 'sandboxed' })).toContain('INVALID_ARGUMENTS');
    await place.nothingRuns();
  });

  inLongForm('sends its hooks past the proxy with which its person started the service', async () => {
    const proxy = await recordingProxy();
    const place = await placeOf(binary, {
      script: [says('Hello.'), says('It is made.')],
      env: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url },
    });
    onTestFinished(async () => {
      await place.claude('daemon', 'stop', '--any');
    });
    await place.claude('--bg', 'Say hello.');
    await expect.poll(place.listed, POLL).toMatchObject([{ status: 'idle' }]);
    const before = proxy.seen.length;
    const id = await place.background();
    expect(await place.end(id)).toMatchObject({ status: 'completed', last_output: 'It is made.' });
    expect(proxy.seen.slice(before)).toEqual([]);
    expect((await place.output(id, 'events')).text).toMatch(/"type":"turn-ended".*"source":"exact"/);
  });
});
