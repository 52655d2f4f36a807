import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { createSecret } from '../../../src/base/ids.js';
import { PrintDriver } from '../../../src/claude/print/print-driver.js';
import type { SessionAnswer, SessionEvent, SessionRequest } from '../../../src/claude/session.js';
import { killTree } from '../../../src/pty/kill-ladder.js';
import { CLAUDE_VERSIONS } from '../../../src/cli/demo/fetch-claude.js';
import { startScriptedApi, type Script, type ScriptedApi } from '../../../src/cli/demo/scripted-api.js';
import { createClaudeHome, type ClaudeHome } from '../../harness/claude-home.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { EventLog } from '../../harness/event-log.js';
import { killMarked, markedProcesses } from '../../harness/marked-processes.js';
import { passingGuard } from '../../harness/passing-guard.js';

describeRealClaude('the print driver', ({ version, binary }) => {
  let projectDir: string;
  let api: ScriptedApi;
  let home: ClaudeHome;
  let driver: PrintDriver;
  let events: EventLog<SessionEvent>;
  let mark: string;

  beforeEach(async () => {
    projectDir = await realpath(await mkdtemp(join(tmpdir(), 'bridge-project-')));
    mark = createSecret();
  });

  afterEach(async () => {
    await killMarked(mark);
    driver.dispose();
    await api.dispose();
    await home.dispose();
    await rm(projectDir, { recursive: true, force: true });
  });

  async function start(script: Script, prompt = 'Do the work.') {
    api = await startScriptedApi(script);
    home = await createClaudeHome({ apiUrl: api.url });
    driver = new PrintDriver({
      command: [binary],
      cwd: projectDir,
      env: { ...home.env, CLAUDE_CODE_BRIDGE_MARK: mark },
      prompt,
      model: null,
      sessionId: randomUUID(),
      clock: systemClock,
      guard: passingGuard,
      killTree: async (pid) => {
        await killTree({ pid, mark, clock: systemClock });
      },
    });
    events = new EventLog(driver.onEvent);
    await driver.start();
  }

  async function nextRequest(): Promise<SessionRequest> {
    const { request } = await events.next('request');
    return request;
  }

  async function answerNext(answer: SessionAnswer): Promise<SessionRequest> {
    const request = await nextRequest();
    expect(await driver.answer(request.requestId, answer)).toBe('answered');
    return request;
  }

  it('an allowed edit is written, told with its path, and the session ends with 0', async () => {
    await start([
      {
        say: 'I will write it.',
        tools: [{ name: 'Write', input: { file_path: 'hello.txt', content: 'hi there' } }],
      },
      { say: 'All done.' },
    ]);
    const { pid } = await events.next('spawned');
    expect(pid).toBeGreaterThan(0);
    expect(await events.next('session')).toMatchObject({ cliVersion: version });
    expect(await events.next('turn-started')).toMatchObject({ prompt: 'Do the work.', source: 'exact' });
    expect(await answerNext({ verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Write',
      source: 'exact',
    });
    expect(await events.next('tool-finished')).toMatchObject({
      tool: 'Write',
      ok: true,
      filesChanged: [join(projectDir, 'hello.txt')],
    });
    expect(await events.next('turn-ended')).toMatchObject({
      message: 'All done.',
      backgroundTasks: 0,
      source: 'exact',
    });
    await driver.close();
    expect((await events.next('exited')).exit).toEqual({ code: 0 });
    expect(events.all.at(-1)?.type).toBe('exited');
    expect(await readFile(join(projectDir, 'hello.txt'), 'utf8')).toBe('hi there');
    expect((await driver.screen()).text).toContain('● I will write it.');
    expect(driver.lastOutput(9)).toBe('All done.');
    expect(await markedProcesses(mark)).toEqual([]);
  });

  it('of what a session asks each answer is carried out: a denial, a permission for the session, a question, a plan', async () => {
    const options = [
      { label: 'PostgreSQL', description: 'a server' },
      { label: 'SQLite', description: 'a file' },
    ];
    const questions = [{ question: 'Which database?', header: 'Database', multiSelect: false, options }];
    const runs = (command: string) => ({
      tools: [{ name: 'Bash', input: { command, description: 'a step' } }],
    });
    await start([
      runs('touch denied.txt'),
      runs('touch one.txt'),
      runs('touch one.txt'),
      { tools: [{ name: 'AskUserQuestion', input: { questions } }] },
      { tools: [{ name: 'EnterPlanMode', input: {} }] },
      { tools: [{ name: 'ExitPlanMode', input: { plan: '1. Do it.' } }] },
      { say: 'Approved.' },
    ]);
    const toldAll = () =>
      api.requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)).join('\n');

    // A denied command is not run and the model is told why.
    await answerNext({ verdict: 'deny', message: 'No new files today.' });
    expect(await events.next('tool-finished')).toMatchObject({ tool: 'Bash', ok: false, filesChanged: [] });
    // The next request comes after the model was told.
    expect(await answerNext({ verdict: 'allow_session' })).toMatchObject({ tool: 'Bash' });
    expect(api.requests.flatMap(({ toolResults }) => toolResults)).toMatchObject([
      { text: 'No new files today.', isError: true },
    ]);

    // The CLI is given no rule about commands: that the same command is not asked about again is for the bridge.
    expect(await answerNext({ verdict: 'allow' })).toMatchObject({ tool: 'Bash' });
    expect(await answerNext({ verdict: 'allow', answers: { Database: 'SQLite' } })).toMatchObject({
      kind: 'question',
      options: ['PostgreSQL', 'SQLite'],
      summary: 'Which database?',
    });

    // A plan is approved before work goes on; the answer has reached the model by then.
    const plan = await nextRequest();
    expect(plan).toMatchObject({ kind: 'plan', tool: 'ExitPlanMode' });
    expect(toldAll()).toContain('"Which database?"="SQLite"');
    expect(await driver.answer(plan.requestId, { verdict: 'allow' })).toBe('answered');
    expect(await events.next('turn-ended')).toMatchObject({ message: 'Approved.' });
    expect((await events.next('notice')).text).toContain('denied: Bash');
    expect(api.requests.at(-1)?.toolResults[0]).toMatchObject({ isError: false });
    expect(events.all.filter((event) => event.type === 'request')).toHaveLength(5);
    // Nothing of the permission is written into the project.
    expect(await readdir(projectDir)).toEqual(['one.txt']);
    await driver.close();
  });

  it('API errors that pass are told as notices and the turn succeeds', async () => {
    const error = { status: 500, type: 'api_error', message: 'boom' };
    await start([{ error, repeat: 2 }, { say: 'Recovered.' }]);
    expect((await events.next('notice')).text).toMatch(
      /^API error \(500 server_error\) · retrying in \d\.\d s · attempt 1 of/,
    );
    expect(await events.next('turn-ended')).not.toHaveProperty('error');
    await driver.close();
  });

  it('an interrupt withdraws what was asked, ends the turn, and a message starts the next', async () => {
    await start([
      { tools: [{ name: 'Bash', input: { command: 'touch made.txt', description: 'make' } }] },
      { say: 'Yes?' },
    ]);
    const { requestId } = await nextRequest();
    await driver.interrupt();
    expect(await events.next('request-gone')).toMatchObject({ requestId });
    expect(await events.next('turn-ended')).toMatchObject({ interrupted: true });
    expect(await driver.answer(requestId, { verdict: 'allow' })).toBe('gone');
    await driver.send('Go on without it.');
    await events.next('turn-started');
    expect(await events.next('turn-started')).toMatchObject({ prompt: 'Go on without it.' });
    expect(await events.next('said')).toMatchObject({ text: 'Yes?' });
    expect(api.requests.at(-1)?.userText).toContain('Go on without it.');
    await driver.close();
    await expect(driver.send('Too late.')).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
    expect(existsSync(join(projectDir, 'made.txt'))).toBe(false);
  });

  it('a command in the background is counted until it is over', async () => {
    const command = 'until [ -e go ]; do sleep 0.1; done';
    const input = { command, description: 'wait', run_in_background: true };
    await start([{ tools: [{ name: 'Bash', input }] }, { say: 'Started.' }, { say: 'It is over.' }]);
    expect(await events.next('turn-ended')).toMatchObject({ message: 'Started.', backgroundTasks: 1 });
    await writeFile(join(projectDir, 'go'), '');
    expect(await events.next('turn-ended')).toMatchObject({ message: 'It is over.', backgroundTasks: 0 });
    await driver.close();
  });

  // What the bridge does by itself, whichever CLI it is.
  if (version !== CLAUDE_VERSIONS.at(-1)) return;

  it('a prompt of 1 MB that begins with a dash arrives whole', async () => {
    const prompt = `--dangerously "$(touch made.txt)" \`x\` ${'é☂ '.repeat(200_000)}end`;
    await start([{ say: 'Read.' }], prompt);
    await events.next('turn-ended');
    expect(api.requests.some((request) => request.userText.includes(prompt))).toBe(true);
    expect(await readdir(projectDir)).toEqual([]);
    await driver.close();
  });
});
