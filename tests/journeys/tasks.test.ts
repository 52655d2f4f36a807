// The specification of the delegation server: "Task Tools", "PTY Management System", "Task Lifecycle Management".
import { access, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gitIn, repository } from '../harness/project-files.js';
import { asksAboutPrompts, scriptedAgent } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';
import type { TaskClient } from '../harness/task-client.js';
import { until } from '../harness/until.js';

const bridge = sharedBridge({ claude: scriptedAgent });

const limitSchema = z.looseObject({ timeout_seconds: z.number() });

/** A project of one test's own. */
const project = (name: string): Promise<string> => bridge().newProject(name);

const STARTED =
  'Task started. Claude Code is processing your request. Call wait_for_task with the cursor to follow it.';

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

test('a task is started with an answer at once, holds its project, is killed, and leaves the project free', async () => {
  const path = await project('whole');
  const answer = await bridge().call('start_task', { path, prompt: 'AGENT: never-exits' });
  expect(answer['task_id']).toMatch(/^task_[0-9a-f]{20}$/);
  expect(answer).toMatchObject({
    status: 'running',
    message: `${STARTED} The bridge itself writes one folder into this project, .claude/mcp-logs (log and prompt of each task), which git ignores.`,
  });
  const id = String(answer['task_id']);
  const refusal = await bridge().refusal('start_task', { path, prompt: 'AGENT: exit 0' });
  expect(refusal).toMatch(/^TASK_ALREADY_RUNNING: /);
  expect(refusal).toContain(id);
  expect(refusal).toContain('kill_task');
  expect(await bridge().call('kill_task', { task_id: id })).toMatchObject({
    task_id: id,
    status: 'killed',
    message: 'Task terminated successfully.',
  });
  const after = await bridge().status(id);
  expect(after).toMatchObject({ status: 'killed' });
  expect(after.hint).toMatch(/^Task was manually terminated\./);
  expect(await bridge().refusal('kill_task', { task_id: id })).toMatch(/^TASK_NOT_RUNNING: .*killed/);
  const next = await bridge().call('start_task', { path, prompt: 'AGENT: never-exits' });
  expect(next).toMatchObject({ message: STARTED });
  await bridge().call('kill_task', { task_id: next['task_id'] });
});

test('tasks of different projects run at the same time', async () => {
  const paths = await Promise.all([project('one'), project('two')]);
  const ids = await Promise.all(paths.map((path) => bridge().start({ path, prompt: 'AGENT: never-exits' })));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(await bridge().status(id)).toMatchObject({ status: 'running' });
  for (const task_id of ids) await bridge().call('kill_task', { task_id });
});

test('what cannot be meant is refused, with its code and what is allowed', async () => {
  const path = await project('refused');
  const prompt = 'AGENT: exit 0';
  const refusals = [];
  for (const args of [
    { prompt, path: '/etc' },
    { prompt, path: join(path, '../../../../../etc') },
    { prompt, path, timeout_seconds: 59 },
    { prompt, path, timeout_seconds: 14_401 },
    { prompt, path, timeout_seconds: 90.5 },
    { prompt, path, permission_mode: 'yolo' },
    { path },
    { prompt },
  ])
    refusals.push(await bridge().refusal('start_task', args));
  for (const tool of ['get_task_status', 'kill_task'])
    refusals.push(await bridge().refusal(tool, { task_id: 'task_nonexistent' }));
  expect(refusals).toEqual([
    expect.stringMatching(/^PATH_NOT_ALLOWED: .*'?\/etc'? is not within/),
    expect.stringMatching(/^PATH_NOT_ALLOWED: /),
    ...[59, 14_401, 90.5].map(() => expect.stringMatching(/^INVALID_ARGUMENTS: .*timeout_seconds/)),
    expect.stringMatching(/^INVALID_ARGUMENTS: .*permission_mode.*cautious/s),
    expect.stringMatching(/^INVALID_ARGUMENTS: .*prompt/),
    expect.stringMatching(/^NO_ACTIVE_PROJECT: .*path/),
    expect.stringMatching(/^TASK_NOT_FOUND: .*task_nonexistent/),
    expect.stringMatching(/^TASK_NOT_FOUND: /),
  ]);
  expect(refusals[0]).toContain(bridge().workplace.projectsDir);
});

describe('start_task', () => {
  test('takes timeout_seconds from 60 to 14400, and 3600 when it is left out', async () => {
    const limits = await Promise.all(
      [60, 14_400, undefined].map(async (timeout_seconds) => {
        const path = await project('limits');
        const id = await bridge().start({ path, prompt: 'AGENT: exit 0', timeout_seconds });
        await bridge().end(id);
        return limitSchema.parse(JSON.parse(await bridge().mcp.readResource(`tasks://${id}`)));
      }),
    );
    expect(limits.map(({ timeout_seconds }) => timeout_seconds)).toEqual([60, 14_400, 3_600]);
  });

  test('hands over the prompt by a file and as it is: no shell reads it', async () => {
    const path = await project('prompt');
    const prompt = `AGENT: echo\n$(touch ran) \`touch ran\` "; touch ran; echo 'Ü 漢字\n--dangerously-skip-permissions`;
    const id = await bridge().start({ path, prompt });
    await bridge().end(id);
    const log = await bridge().output(id, 'log');
    for (const line of prompt.split('\n')) expect(log.text).toContain(line);
    expect(log.text).toContain(`BYTES:${Buffer.byteLength(prompt)}`);
    expect(await isThere(join(path, 'ran'))).toBe(false);
    const logs = join(path, '.claude', 'mcp-logs');
    expect(await readFile(join(logs, 'current_task_prompt.md'), 'utf8')).toBe(prompt);
  });

  test('runs the program in a terminal, in the project, with TERM=xterm-256color', async () => {
    const path = await project('terminal');
    const id = await bridge().start({ path, prompt: 'AGENT: asks-terminal' });
    await bridge().end(id);
    expect((await bridge().output(id, 'log')).text).toMatch(/TERMINAL SAID:"\\u001b\[/);
  });
});

describe('get_task_status', () => {
  test('of a running task has its id, its time, no exit code, its last output and when to look again', async () => {
    const id = await bridge().start({ path: await project('status'), prompt: 'AGENT: never-exits' });
    const status = await bridge().until(id, ({ last_output }) => last_output === 'working');
    expect(status.elapsed_seconds).toBeLessThan(60);
    expect(status).toMatchObject({
      task_id: id,
      status: 'running',
      exit_code: null,
      hint: 'Task is still processing. Call wait_for_task with the cursor; it answers as soon as that changes.',
    });
    await bridge().call('kill_task', { task_id: id });
  });

  test('of a task that ended says completed or failed, with its exit code or signal and the last 500 characters of its output', async () => {
    const [completed, failed, signalled, flooded] = await Promise.all(
      ['exit 0', 'exit 3', 'dies-mid-line', 'floods 1'].map(async (behaviour) =>
        bridge().end(await bridge().start({ path: await project('ended'), prompt: `AGENT: ${behaviour}` })),
      ),
    );
    expect(completed).toMatchObject({ status: 'completed', exit_code: 0, last_output: 'exiting with 0' });
    expect(completed?.hint).toMatch(/^Task completed successfully\. Review the output above\./);
    expect(failed).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(failed?.hint).toMatch(/^Task failed with exit code 3\. Review the error output above\./);
    expect(signalled).toMatchObject({ status: 'failed', exit_code: null });
    expect(signalled?.hint).not.toContain('null');
    expect(signalled?.hint).toContain('SIGKILL');
    expect(flooded?.last_output).toMatch(/^[^\u001b]{300,490}FLOOD END$/);
  });
});

test('kill_task sends SIGTERM first, and SIGKILL to what is left after 5 seconds', async () => {
  const id = await bridge().start({ path: await project('stubborn'), prompt: 'AGENT: ignores-sigterm' });
  await bridge().until(id, ({ last_output }) => last_output.includes('READY'));
  const startMs = performance.now();
  expect(await bridge().call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  expect((await bridge().output(id, 'log')).text).toContain('ignoring SIGTERM');
  expect(performance.now() - startMs).toBeGreaterThan(4_500);
});

test('approval prompts are answered with y in mode auto, once however they are printed', async () => {
  const logs = await Promise.all(
    ['split-prompt', 'repaints-prompt'].map(async (behaviour) => {
      const id = await bridge().start({ path: await project(behaviour), prompt: `AGENT: ${behaviour}` });
      await bridge().end(id);
      return (await bridge().output(id, 'log')).text;
    }),
  );
  for (const log of logs) expect(log).toContain('GOT:y');
  expect(logs[1]).toContain('ANSWERS:1');
});

test('its log and its prompt lie in .claude/mcp-logs of the project, which git ignores without a word in .gitignore, also beside other files of .claude', async () => {
  const path = await project('files');
  await bridge().call('init_git_repo', { path });
  await mkdir(join(path, '.claude'));
  const id = await bridge().start({ path, prompt: 'AGENT: exit 0' });
  expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
  const logs = join(path, '.claude', 'mcp-logs');
  expect(await readdir(logs)).toEqual(expect.arrayContaining([`${id}.log`, 'current_task_prompt.md']));
  expect(await readFile(join(logs, 'current_task_prompt.md'), 'utf8')).toBe('AGENT: exit 0');
  expect(await readFile(join(logs, `${id}.log`), 'utf8')).toContain('exiting with 0');
  expect(await bridge().call('git_status', { path })).toMatchObject({ clean: true, untracked: [] });
  expect(await isThere(join(path, '.gitignore'))).toBe(false);
});

describe('a task lives on its own', () => {
  test('when its server is killed, or left by its client: another server shows its question and answers it', async () => {
    const rules = { MCP_RULES: JSON.stringify(asksAboutPrompts) };
    const outlives = async (end: (server: TaskClient) => unknown) => {
      const first = await bridge().another('modern', { env: rules });
      const id = await first.start({ path: await project('outlives'), prompt: 'AGENT: split-prompt' });
      await end(first);
      const decision = await bridge().decision(id);
      expect(decision.summary).toContain('Do you want to proceed? [y/N]');
      await bridge().respond(id, decision, { verdict: 'deny', message: 'Not today.' });
      expect(await bridge().end(id)).toMatchObject({ status: 'completed', exit_code: 0 });
      expect((await bridge().output(id, 'log')).text).toContain('GOT:n');
      expect(await bridge().events(id, 'decision-closed')).toMatchObject([
        { answered_by: 'caller', verdict: 'deny', reason: 'Not today.' },
      ]);
    };
    await Promise.all([
      outlives(({ mcp }) => process.kill(mcp.pid, 'SIGKILL')),
      outlives(({ mcp }) => mcp.close()),
    ]);
  });

  test('and ends with its keeper: the end is told as it was, nothing is left, and the project is free', async () => {
    const before = await bridge().workplace.processes();
    const path = await project('keeper');
    const id = await bridge().start({ path, prompt: 'AGENT: never-exits' });
    await bridge().until(id, ({ last_output }) => last_output === 'working');
    await bridge().killKeeper(id);
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'error', exit_code: null });
    expect(end.reason).toMatch(/^The process that kept this task ended without a word/);
    expect(await bridge().call('get_task_result', { task_id: id })).toMatchObject({
      receipt: { complete: false },
    });
    await until('nothing of it runs', async () => {
      const now = await bridge().workplace.processes();
      expect(now.filter((pid) => !before.includes(pid))).toEqual([]);
    });
    const next = await bridge().start({ path, prompt: 'AGENT: exit 0' });
    expect(await bridge().end(next)).toMatchObject({ status: 'completed' });
  });
});

describe('in a project that another task has', () => {
  test('a task waits in the queue, with its place, and starts when the other has ended; one that is killed there never starts', async () => {
    const path = await project('queue');
    const start = (prompt: string) => bridge().call('start_task', { path, prompt, on_conflict: 'queue' });
    const { task_id: first } = await start('AGENT: never-exits');
    const [second, third] = [await start('AGENT: exit 0'), await start('AGENT: exit 3')];
    expect([second, third]).toMatchObject([
      { status: 'pending', queue_position: 1 },
      { status: 'pending', queue_position: 2 },
    ]);
    expect(second['message']).toContain(
      `starts after task ${String(first)}, which has worked in ${path} since`,
    );
    expect(await bridge().status(String(third['task_id']))).toMatchObject({
      status: 'pending',
      hint: 'Task is queued, place 2. It starts automatically. Call wait_for_task with the cursor; it answers as soon as that changes.',
    });
    const killed = await bridge().call('kill_task', { task_id: second['task_id'] });
    expect(killed).toMatchObject({ status: 'killed' });
    const woken = bridge().call('wait_for_task', { task_ids: [third['task_id']] });
    await bridge().call('kill_task', { task_id: first });
    expect(await woken).toMatchObject({ tasks: [{ changed: true }] });
    expect(await bridge().end(String(third['task_id']))).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(await bridge().status(String(second['task_id']))).toMatchObject({
      status: 'killed',
      exit_code: null,
    });
  });

  test('what changed in a shared folder is shown while the task runs and afterwards, and is taken back but for new files', async () => {
    const path = await project('undo');
    await repository(path);
    await writeFile(join(path, 'a.txt'), 'one\nmine\n');
    const task_id = await bridge().start({ path, prompt: 'AGENT: never-exits' });
    await writeFile(join(path, 'a.txt'), 'two\nmine\n');
    await writeFile(join(path, 'new.txt'), 'new\n');
    gitIn(path, 'add', 'new.txt');
    gitIn(path, 'commit', '--quiet', '-m', 'of the task');
    for (const state of ['running', 'killed']) {
      if (state === 'killed') await bridge().call('kill_task', { task_id, reason: 'Enough.' });
      const shown = await bridge().call('get_task_diff', { task_id });
      expect(shown, state).toMatchObject({
        files: 2,
        message: expect.stringContaining('whoever did it') as unknown,
      });
      expect(shown['diff'], state).toMatch(/-one\n\+two\n mine\n[^]*\+new\n$/);
    }
    expect(await bridge().status(task_id)).toMatchObject({ reason: 'Terminated by kill_task: Enough.' });
    const { reviewed, hint } = await bridge().call('get_task_result', { task_id });
    expect(hint).toContain('finish_task with action undo');
    const undo = { task_id, how: 'undo' };
    expect(await bridge().refusal('finish_task', undo)).toContain(`reviewed "${String(reviewed)}"`);
    const done = await bridge().call('finish_task', { ...undo, reviewed });
    expect(done['message']).toMatch(
      /^1 file taken back: a\.txt\.\nCommits stay[^]*New files stay[^]*: new\.txt\./,
    );
    expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('one\nmine\n');
    expect(await isThere(join(path, 'new.txt'))).toBe(true);
    expect(gitIn(path, 'log', '--format=%s')).toBe('of the task\nfirst\n');
    const after = await bridge().call('get_task_result', { task_id });
    expect(after['hint']).toMatch(/What it changed was undone at /);
    expect(after['hint']).not.toContain('action undo');
  });

  test('a task works beside the other in a worktree, whose work finish_task merges, applies or discards', async () => {
    const path = await project('worktree');
    await repository(path);
    const busy = await bridge().start({ path, prompt: 'AGENT: never-exits' });
    const worktreeOf = (id: string) => join(path, '.claude', 'worktrees', id);
    /** Its work is done by hand. */
    const beside = async (file: string) => {
      const prompt = 'AGENT: exit 0';
      const started = await bridge().call('start_task', { path, prompt, on_conflict: 'worktree' });
      const id = String(started['task_id']);
      expect(started['message']).toContain(worktreeOf(id));
      expect(await bridge().end(id)).toMatchObject({ status: 'completed', worktree: worktreeOf(id) });
      expect(await bridge().call('git_status', { path: worktreeOf(id) })).toMatchObject({
        branch: `claude/agent-exit-0-${id.slice(-6)}`,
      });
      await writeFile(join(worktreeOf(id), file), `${file}\n`);
      return id;
    };
    const [merged, applied, discarded] = [
      await beside('b.txt'),
      await beside('c.txt'),
      await beside('d.txt'),
    ];
    expect(gitIn(path, 'status', '--porcelain')).toBe('');
    const finish = async (task_id: string, action: string) => {
      const { reviewed } = await bridge().call('get_task_result', { task_id });
      expect(await bridge().refusal('finish_task', { task_id, action: 'merge' })).toContain(
        'get_task_result',
      );
      return bridge().call('finish_task', { task_id, action, message: 'Two', reviewed });
    };
    const commit = await finish(merged, 'merge');
    expect(commit).toMatchObject({ action: 'merge', commit: gitIn(path, 'rev-parse', 'main').trim() });
    expect(gitIn(path, 'show', '--format=%s', '--name-only')).toBe('Two\n\nb.txt\n');
    expect(await finish(applied, 'apply')).toMatchObject({ action: 'apply' });
    expect(await finish(discarded, 'discard')).toMatchObject({ action: 'discard' });
    expect(gitIn(path, 'status', '--porcelain')).toMatch(/^.. c\.txt\n$/);
    expect(await readdir(path)).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'c.txt']));
    expect(await isThere(join(path, 'd.txt'))).toBe(false);
    expect(await readdir(join(path, '.claude', 'worktrees'))).toEqual(['.gitignore']);
    // Its log lies in the project, and is still there.
    expect((await bridge().output(merged, 'log')).text).toContain('exiting with 0');
    for (const task_id of [merged, busy])
      expect(await bridge().refusal('finish_task', { task_id, action: 'merge', reviewed: 'x' })).toMatch(
        /^INVALID_ARGUMENTS: .*(finished|not in a worktree)/,
      );
    await bridge().call('kill_task', { task_id: busy });
  });
});
