// README.md and docs/guide.md: what works without a chat: run, tasks, attach, doctor. `init` is in readme.test.ts.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.js';
import { attach } from '../harness/attached-terminal.js';
import { gitIn } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runCommand, type Ended, type RunOptions } from '../harness/run-command.js';
import {
  agentNamedClaude,
  asksAboutPrompts,
  scriptedAgent,
  writeProgram,
} from '../harness/scripted-agent.js';
import { asks, runs, says, thinksForEver } from '../harness/scripted-turns.js';
import { sharedBridge, type TestBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { ScriptedModel } from './scripted-model.js';

/** The prompts of its tasks are asked about. */
const bridge = sharedBridge({
  claude: scriptedAgent,
  env: { MCP_RULES: JSON.stringify(asksAboutPrompts) },
});

test('a permission mode that is not allowed is refused with those that are; version says how a clone is updated', async () => {
  const env = {
    ...bridge().env,
    MCP_DEFAULT_PERMISSION_MODE: 'cautious',
    MCP_ALLOWED_PERMISSION_MODES: 'cautious,sandboxed',
  };
  const refused = await command(['run', '--mode', 'auto', 'Work.'], { cwd: bridge().project, env });
  expect(refused.code).toBe(exitCodes.badCommandLine);
  expect(refused.err).toContain(
    'Allowed: cautious, sandboxed, by the setting allowed_permission_modes (environment variable MCP_ALLOWED_PERMISSION_MODES).',
  );
  expect((await command(['version'], { cwd: bridge().project })).out).toMatch(
    /^\d+\.\d+\.\d+\n(This is a clone\. To update it: cd .+ && git pull && npm ci && npm run build\n)?$/,
  );
});

const SHORTEST_LIMIT_SECONDS = 60;
const CTRL_C = '\x03';
const DETACH = '\x1d';
const TASK_ID = /task_[0-9a-f]{20}/;

/** Runs a command without a terminal. */
function command(
  words: readonly string[],
  run: Partial<RunOptions> & Pick<RunOptions, 'cwd'>,
): Promise<Ended> {
  return runCommand(words, { env: bridge().env, ...run });
}

/** `run` in a terminal. */
function runInTerminal(of: TestBridge, cwd: string, ...args: string[]) {
  return attach(of, { command: 'run', args, cwd });
}

function taskIdIn(shown: string): string {
  return TASK_ID.exec(shown)?.[0] ?? '';
}

/** Started first, looked at last: it takes the shortest limit that a task may have. */
let overdue: Promise<Ended & { readonly path: string }>;

beforeAll(async () => {
  const path = await bridge().newProject('overdue');
  const words = ['run', 'AGENT: never-exits', '--timeout', String(SHORTEST_LIMIT_SECONDS)];
  overdue = command(words, { cwd: path }).then((ended) => ({ ...ended, path }));
});

describe('run', () => {
  test('prints the log and the receipt, its exit code says how the task ended, and it says why it starts none', async () => {
    const cwd = await bridge().newProject('run');
    const good = await command(['run', 'AGENT: exit 0'], { cwd });
    expect(good).toMatchObject({ code: exitCodes.done });
    expect(good.out).toContain('exiting with 0\n');
    expect(good.out).toMatch(/^status +completed: /m);
    expect(good.err).toContain(
      `${taskIdIn(good.err)} started in ${cwd}.\nThe bridge itself writes one folder`,
    );
    const undo = await command(['tasks', 'finish', taskIdIn(good.err), 'undo'], { cwd });
    expect(undo.err).toContain('NOT_A_REPOSITORY');
    expect(undo.err).not.toContain('undefined');
    const file = join(cwd, 'a.txt');
    await writeFile(file, '');
    expect(await command(['run', 'x', '--path', file], { cwd })).toMatchObject({ code: exitCodes.notFound });
    const bad = await command(['run', '-', '--mode', 'auto'], { cwd, input: 'AGENT: exit 3\n' });
    expect(bad.code).toBe(exitCodes.failed);
    expect(bad.out).toMatch(/^status +failed: /m);
    const outside = await command(['run', 'AGENT: exit 0'], { cwd: bridge().workplace.root });
    expect(outside).toMatchObject({ code: exitCodes.notAllowed, out: '' });
    expect(outside.err).toContain(' init --roots <folder>` (the setting allowed_roots).');
    const wrong = await command(['run', 'x', '--timeout', '5'], { cwd });
    expect(wrong).toMatchObject({ code: exitCodes.badCommandLine, out: '' });
  });

  test('with --detach says the id and returns; a second task is refused, and with --queue comes after it', async () => {
    const cwd = await bridge().newProject('detach');
    const first = await command(['run', 'AGENT: never-exits', '--detach'], { cwd });
    expect(first).toMatchObject({ code: exitCodes.done, err: '' });
    expect(first.out).toMatch(/^task_\w+\n$/);
    const busy = await command(['run', 'AGENT: exit 0'], { cwd });
    expect(busy.code).toBe(exitCodes.busy);
    expect(busy.err).toContain('--queue');
    let said = '';
    const second = command(['run', 'AGENT: exit 0', '--queue'], { cwd, onSaid: (err) => (said = err) });
    await until('the second is in the queue', async () =>
      expect(await bridge().call('list_tasks', { path: cwd, status: 'pending' })).toMatchObject({
        tasks: [{ queue_position: 1 }],
      }),
    );
    await until('its id', () => TASK_ID.test(said));
    const person = await attach(bridge(), { args: [taskIdIn(said)], cwd });
    await person.sees(/TASK_NOT_RUNNING: task_\w+ is in the queue[^]* tasks follow [^]* tasks kill /);
    expect(await person.exited).toMatchObject({ code: exitCodes.failed });
    expect(await command(['tasks', 'kill', first.out.trim()], { cwd })).toMatchObject({ code: 0 });
    expect(await second).toMatchObject({ code: exitCodes.done });
  });

  test('without a terminal says how its question is answered, and goes on when tasks answer has done so', async () => {
    const cwd = await bridge().newProject('answered');
    let said = '';
    const running = command(['run', 'AGENT: split-prompt'], { cwd, onSaid: (err) => (said = err) });
    await until('how to answer', () => said.includes('Answer it with one of:'));
    const id = taskIdIn(said);
    const { decision_id } = await bridge().decision(id);
    const shown = await command(['tasks', 'show', id], { cwd });
    expect(shown.out).toContain(`? ${decision_id}: `);
    expect(shown.out).toContain('Do you want to proceed? [y/N]');
    const answer = (...words: string[]) => command(['tasks', 'answer', id, ...words], { cwd });
    const unknown = await answer('dec_9', 'deny');
    expect(unknown.code).toBe(exitCodes.notFound);
    expect(unknown.err).toContain(`Open: ${decision_id}.`);
    const denied = await answer(decision_id, 'deny', 'Not today.');
    expect(denied).toMatchObject({ code: exitCodes.done, out: `${decision_id} answered: deny\n` });
    const { code, out, err } = await running;
    expect(code).toBe(exitCodes.done);
    expect(err).toMatch(
      new RegExp(`node .*main\\.js'? tasks answer ${id.slice(-6)} ${decision_id} allow\\n`),
    );
    expect(out).toContain('GOT:n');
    expect(await bridge().events(id, 'decision-closed')).toMatchObject([
      { answered_by: 'command line', verdict: 'deny', reason: 'Not today.' },
    ]);
    expect(await answer('allow')).toMatchObject({ code: exitCodes.notFound });
  });

  test('in a terminal leaves the task running at Ctrl-C, also at a question', async () => {
    const person = await runInTerminal(bridge(), await bridge().newProject('left'), 'AGENT: split-prompt');
    const id = taskIdIn(await person.sees('Type y (allow once), s (for this session), n (deny)'));
    person.type(CTRL_C);
    await person.sees('Ctrl-C again within 2 s ends it');
    await person.sees(/to dec_1, until \d\d:\d\d:\d\d; then it is denied[^]* tasks answer \w+ dec_1 deny/);
    expect(await person.exited).toMatchObject({ code: exitCodes.done });
    expect(await bridge().status(id)).toMatchObject({ status: 'waiting' });
    await bridge().call('kill_task', { task_id: id });
  });
});

test('tasks list, log, show and diff tell what a task did, and not what was there before', async () => {
  const cwd = await bridge().newProject('edited');
  gitIn(cwd, 'init', '--quiet', '--initial-branch', 'main');
  await writeFile(join(cwd, 'a.txt'), 'one\n');
  gitIn(cwd, 'add', '.');
  gitIn(cwd, 'commit', '--quiet', '-m', 'first');
  await writeFile(join(cwd, 'mine.txt'), 'mine\n');
  // The first look of git is taken before a program starts, however fast it writes.
  const script = 'echo two >a.txt; echo new >new.txt; echo Edited.';
  const program = await writeProgram(bridge().workplace, 'edits', script);
  const env = { ...bridge().env, MCP_CLAUDE_COMMAND: program };
  const started = await command(['run', 'Work.', '--detach'], { cwd, env });
  const id = started.out.trim();
  await bridge().end(id);
  const told = async (...words: string[]) => (await command(['tasks', ...words], { cwd })).out;
  expect(JSON.parse(await told('list', '--json'))).toEqual(
    expect.arrayContaining([expect.objectContaining({ task_id: id, status: 'completed' })]),
  );
  expect(await told('log', id)).toContain('Edited.');
  const shown = await told('show', id);
  expect(shown).toContain('a.txt (changed +1 -1)');
  expect(shown).toContain('new.txt (created)');
  const diff = await told('diff', id);
  expect(diff).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n');
  expect(diff).toContain('+++ b/new.txt\n');
  expect(diff).not.toContain('mine');
});

test('attach shows the screen of a task, is left with the task as it was, answers from its bar, passes keys on and tells the end', async () => {
  const start = async () =>
    bridge().start({ path: await bridge().newProject('attached'), prompt: 'AGENT: split-prompt' });
  const id = await start();
  const first = await attach(bridge(), { args: [id] });
  await first.sees('Do you want to proceed? [y/N]');
  // Its bar knows of the question a moment later.
  await first.sees('then y, s or n answers, twice leaves');
  first.type(DETACH);
  await first.sees('▸ ctrl-] leaves · y allow once');
  first.type(DETACH);
  await first.sees(`Detached from ${id}`);
  expect((await first.exited).code).toBe(exitCodes.done);
  expect(await bridge().status(id)).toMatchObject({ status: 'waiting' });
  const again = await attach(bridge(), { args: [id.slice(-6)] });
  await again.sees('then y, s or n answers, twice leaves');
  again.type(DETACH);
  await again.sees('▸ ctrl-] leaves · y allow once');
  again.type('n');
  await again.sees(`${id} completed`);
  expect(await bridge().events(id, 'decision-closed')).toMatchObject([
    { answered_by: 'terminal', verdict: 'deny' },
  ]);
  const other = await start();
  const typing = await attach(bridge(), { args: [other] });
  await typing.sees('then y, s or n answers');
  typing.type('sure\r');
  await typing.sees(`${other} completed`);
  expect((await typing.exited).code).toBe(exitCodes.done);
  expect((await bridge().output(other, 'log')).text).toContain('GOT:sure');
  expect(await bridge().events(other, 'attached')).toMatchObject([{ columns: 120, rows: 40, watchers: 1 }]);
  expect(await bridge().events(other, 'typed')).toMatchObject([{ by: 'terminal', bytes: 5 }]);
});

test('doctor says what is wrong and what mends it, and is content once that was run', async () => {
  const { root, env: place } = bridge().workplace;
  const home = await mkdtemp(join(root, 'home-'));
  const { MCP_ALLOWED_ROOTS: _none, ...rest } = place;
  const env = {
    ...rest,
    HOME: home,
    MCP_STATE_DIR: join(home, 'state'),
    MCP_CLAUDE_COMMAND: await agentNamedClaude(bridge().workplace),
  };
  const doctor = (more: Readonly<Record<string, string>> = {}) =>
    command(['doctor', '--quick'], { cwd: root, env: { ...env, ...more } });
  const before = await doctor({ MCP_CLAUDE_COMMAND: '/nowhere/claude' });
  expect(before.code).toBe(2);
  expect(before.out).toContain('✓ A pseudo-terminal opens');
  expect(before.out).toMatch(
    /✗ The command '\/nowhere\/claude' .*does not exist\.\n\s+→ .*\n\s+npm install -g /,
  );
  expect(before.out).toMatch(/main\.js'? init --roots ~\/Projects$/m);
  expect(before.out).toMatch(/\d errors?, .*Each line with → says what mends it\.\n$/);
  await mkdir(join(home, 'projects'));
  const init = await command(['init', '--roots', '~/projects', '--yes'], { cwd: root, env });
  expect(init).toMatchObject({ code: exitCodes.done });
  const after = await doctor();
  expect(after.out).not.toContain('✗');
  expect(after.code).toBeLessThan(2);
});

describeNewestClaude('with Claude Code', ({ binary }) => {
  const model = new ScriptedModel();
  const real = sharedBridge({ claude: binary, script: model.script });

  test('run asks in the terminal about a command and a question, the receipt says what was done, and --continue goes on with it', async () => {
    const cwd = await real().newProject('painted');
    model.does(runs('echo made >a.txt'), asks('Which colour?', ['Red', 'Blue']), says('Painted it.'));
    const person = await runInTerminal(real(), cwd, 'Paint.', '--mode', 'cautious');
    await person.sees(/\? dec_1: Bash\n[^]*Type y \(allow once\)/);
    expect(person.raw()).toContain('| command: echo made >a.txt');
    person.type('yes\r');
    await person.sees('2  Blue: Blue, as described');
    await person.sees('Type a number or your own words');
    person.type('y\r');
    await person.sees("'y' alone is no answer to a question: type a number from 1 to 2");
    person.type('2\r');
    const end = await person.sees(/^status +completed/m);
    expect((await person.exited).code).toBe(exitCodes.done);
    expect(end).toContain('Painted it.');
    expect(person.raw()).toContain('echo made >a.txt (exit code 0)');
    expect(model.told.join('\n')).toContain('Blue');
    model.does(says('It was Blue.'));
    const id = taskIdIn(person.raw());
    const next = await command(['run', 'Which was it?', '--continue', id.slice(0, 12)], {
      cwd,
      env: real().env,
    });
    expect(next).toMatchObject({ code: exitCodes.done });
    expect(next.out).toContain('It was Blue.');
    const unknown = await command(['run', 'Which was it?', '--continue', 'task_ffff'], {
      cwd,
      env: real().env,
    });
    expect(unknown).toMatchObject({ code: exitCodes.notFound, out: '' });
    // The same conversation: a prompt, two tools and their results came before.
    expect(model.requests.at(-1)?.messageCount).toBeGreaterThan(5);
  });

  test('tasks interrupt stops a turn, and tasks message says what is done instead', async () => {
    const cwd = await real().newProject('messages');
    model.does(thinksForEver, says('With pnpm, then.'));
    const started = await command(['run', 'Work.', '--detach'], { cwd, env: real().env });
    const id = started.out.trim();
    await until('the turn runs', () => model.requests.at(-1)?.userText.includes('Work.') === true);
    const tasks = (...words: string[]) => command(['tasks', ...words], { cwd, env: real().env });
    const interrupted = await tasks('interrupt', id.slice(-6));
    expect(interrupted).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${id} was interrupted`) as unknown,
    });
    await real().until(id, ({ status }) => status === 'waiting');
    expect(await tasks('message', id.slice(-6), 'Use', 'pnpm.')).toMatchObject({ code: 0, err: '' });
    expect(await real().end(id)).toMatchObject({ status: 'completed', last_output: 'With pnpm, then.' });
    expect(model.requests.at(-1)?.userText).toContain('Use pnpm.');
  });
});

test('a task that exceeds its time limit is terminated and says so, also by the exit code, and its project is free', async () => {
  const { code, out, err, path } = await overdue;
  expect(code).toBe(exitCodes.timeout);
  expect(out).toMatch(/^status +timeout: /m);
  const { status, hint, elapsed_seconds } = await bridge().status(taskIdIn(err));
  expect(status).toBe('timeout');
  expect(hint).toMatch(/^Task exceeded the timeout limit and was terminated\./);
  expect(elapsed_seconds).toBeGreaterThanOrEqual(SHORTEST_LIMIT_SECONDS);
  const next = await bridge().start({ path, prompt: 'AGENT: exit 0' });
  expect(await bridge().end(next)).toMatchObject({ status: 'completed' });
});
