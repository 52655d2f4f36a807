import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attach } from '../../harness/attached-terminal.js';
import { gitIn, repository } from '../../harness/project-files.js';
import type { Ended } from '../../harness/run-command.js';
import { asksEnv, program, scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

/** `claude-code-bridge tasks …` for the user of `bridge`. */
function runTasks(bridge: TestBridge, ...args: string[]): Promise<Ended> {
  return bridge.command(['tasks', ...args], { cwd: bridge.workplace.root });
}

/** What it prints; rejects when it fails. */
async function tasks(bridge: TestBridge, ...args: string[]): Promise<string> {
  const { code, out, err } = await runTasks(bridge, ...args);
  if (code !== 0) throw new Error(err);
  return out;
}

it('follows and ends the task of a server that runs, and says so when its log is gone', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits' });
  // Who starts a task is told that it runs a moment before its record says so.
  await bridge.until(taskId, ({ status }) => status === 'running');
  const following = runTasks(bridge, 'follow', taskId);
  const shown = await tasks(bridge, 'show', taskId.slice(0, 12), '--json');
  expect(JSON.parse(shown)).toMatchObject({ task_id: taskId, status: 'running' });
  expect(await tasks(bridge, 'kill', taskId, '--reason', 'Enough of it.')).toBe(
    `${taskId} killed: Enough of it.\n`,
  );
  const followed = await following;
  expect(followed.code).toBe(130);
  expect(followed.out).toContain('working');
  expect(await tasks(bridge, 'log', taskId)).toBe(followed.out);
  await rm(join(bridge.project, '.claude', 'mcp-logs', `${taskId}.log`));
  expect(await tasks(bridge, 'log', taskId)).toBe('The log is not there: it was removed or replaced.\n');
  expect(await bridge.output(taskId, 'log')).toMatchObject({
    text: 'The log is not there: it was removed or replaced.\n',
  });
  expect(await bridge.status(taskId)).toMatchObject({ status: 'killed', reason: 'Enough of it.' });
});

it('prune removes what has ended, and neither what runs nor what holds work in a worktree', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const { project } = bridge;
  await repository(project);
  const runs = await bridge.start({ prompt: 'AGENT: never-exits', path: project });
  const beside = { prompt: 'AGENT: exit 0', path: project, on_conflict: 'worktree' };
  const clean = await bridge.start(beside);
  await bridge.end(clean);
  const works = await bridge.start(beside);
  await bridge.end(works);
  await writeFile(join(project, '.claude', 'worktrees', works, 'new.txt'), 'work\n');
  const text = await tasks(bridge, 'prune', '--keep', '0');
  expect(text).toContain(`${clean} (completed)`);
  expect(text).toContain(`${works} stays`);
  expect(text).toContain('1 task removed.');
  const left = await readdir(join(bridge.workplace.stateDir, 'tasks'));
  expect(left.sort()).toEqual([runs, works].sort());
  expect((await readdir(join(project, '.claude', 'worktrees'))).sort()).toEqual(['.gitignore', works].sort());
  await bridge.call('finish_task', { task_id: works, action: 'discard' });
  expect(await tasks(bridge, 'prune', '--keep', '0')).toContain('1 task removed.');
  await bridge.call('kill_task', { task_id: runs });
});

it('ends, and joins no task, where tasks end with their last server', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_ON_DISCONNECT: 'stop' } });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits' });
  expect(await tasks(bridge, 'list')).toContain(taskId.slice(-6));
  await bridge.call('kill_task', { task_id: taskId });
});

it('names what can be answered, and says what to do with an answer that does not fit', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv });
  const taskId = await bridge.start({ prompt: 'AGENT: split-prompt' });
  const { decision_id } = await bridge.decision(taskId);
  const id = taskId.slice(-6);
  const shown = await tasks(bridge, 'show', id);
  const lines = [...shown.matchAll(/^node .* tasks answer (.*)$/gm)].map(([, words]) => words);
  expect(lines).toEqual(['allow', 'allow_session', 'deny'].map((word) => `${id} ${decision_id} ${word}`));
  expect(await runTasks(bridge, 'answer', id, '--option', '1', 'allow')).toMatchObject({ code: 64 });
  let said = '';
  const onSaid = (err: string): void => void (said = err);
  const following = bridge.command(['tasks', 'follow', id], { onSaid });
  await until('the question', () => said.includes(`tasks answer ${id} ${decision_id} deny`));
  expect(said).toContain(`? ${decision_id}: `);
  expect(await tasks(bridge, 'answer', id, 'n')).toBe(`${decision_id} answered: deny\n`);
  await bridge.end(taskId);
  await following;
  const late = await runTasks(bridge, 'answer', id, 'y');
  expect(late.err).toContain(`node ${serverEntry} tasks show ${taskId} shows what it did.`);
  // The hint is about commands.
  const ended = await runTasks(bridge, 'kill', id);
  expect(ended.err).toContain(`node ${serverEntry} run`);
});

it('asks in a terminal before an undo, and takes nothing back without a yes', async () => {
  const bridge = await startBridge({ claude: program('edits', 'echo two >a.txt') });
  await repository(bridge.project);
  const taskId = await bridge.start({ prompt: 'Work.' });
  await bridge.end(taskId);
  for (const [answer, left] of [
    ['n', 'two\n'],
    ['y', 'one\n'],
  ] as const) {
    const terminal = await attach(bridge, { command: 'tasks', args: ['finish', taskId, 'undo'] });
    await terminal.sees('Do you want to undo now?');
    terminal.type(answer);
    expect(await terminal.exited).toMatchObject({ code: 0 });
    expect(await bridge.read('a.txt')).toBe(left);
  }
});

it('shows the diff of a worktree, and finishes it', async () => {
  const script = 'case $PWD in */worktrees/*) echo two >a.txt ;; *) exec sleep 600 ;; esac';
  const bridge = await startBridge({ claude: program('edits', script) });
  const { project } = bridge;
  await repository(project);
  const beside = await bridge.start({ prompt: 'Wait.' });
  const taskId = await bridge.start({ prompt: 'Work.', on_conflict: 'worktree' });
  await bridge.end(taskId);
  await bridge.call('kill_task', { task_id: beside });
  expect(await tasks(bridge, 'show', taskId)).toMatch(
    new RegExp(`^merge +node .* tasks finish ${taskId.slice(-6)} merge --reviewed [0-9a-f]{40}$`, 'm'),
  );
  const patch = '@@ -1 +1 @@\n-one\n+two\n';
  expect(await tasks(bridge, 'diff', taskId)).toContain(patch);
  await writeFile(join(project, 'b.txt'), 'of another\n');
  gitIn(project, 'add', 'b.txt');
  gitIn(project, 'commit', '--quiet', '-m', 'second');
  expect(await tasks(bridge, 'finish', taskId, 'merge')).toContain(
    `${taskId} merge: Merged: the project is at `,
  );
  expect(gitIn(project, 'show', 'HEAD:a.txt')).toBe('two\n');
  const again = await runTasks(bridge, 'finish', taskId, 'merge');
  expect(again.err).toMatch(
    new RegExp(`^INVALID_ARGUMENTS: Task ${taskId} was finished already: merged at `),
  );
  const merged = await tasks(bridge, 'diff', taskId);
  expect(merged).toContain(patch);
  expect(merged).not.toContain('b.txt');
});
