import { execFile, execFileSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../harness/start-bridge.js';

const run = promisify(execFile);

/** What `claude-code-bridge tasks …` prints for the user of `bridge`; rejects when it fails. */
async function tasks(bridge: TestBridge, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [serverEntry, 'tasks', ...args], {
    cwd: bridge.workplace.root,
    env: bridge.env,
  });
  return stdout;
}

it('lists, shows, follows and ends the tasks of a server that runs', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  expect(await tasks(bridge)).toContain(taskId);
  // Who starts a task is told that it runs a moment before its record says so.
  await bridge.until(taskId, ({ status }) => status === 'running');
  const following = tasks(bridge, 'follow', taskId).catch((error: unknown) =>
    z.object({ code: z.number(), stdout: z.string() }).parse(error),
  );
  const [listed, shown] = await Promise.all([
    tasks(bridge, 'list', '--json'),
    tasks(bridge, 'show', taskId.slice(0, 12), '--json'),
  ]);
  const recordSchema = z.looseObject({ task_id: z.string(), status: z.string() });
  expect(z.array(recordSchema).parse(JSON.parse(listed))).toMatchObject([
    { task_id: taskId, status: 'running' },
  ]);
  expect(recordSchema.parse(JSON.parse(shown))).toMatchObject({ task_id: taskId, status: 'running' });
  expect(await tasks(bridge, 'kill', taskId, '--reason', 'Enough of it.')).toBe(
    `${taskId} killed: Enough of it.\n`,
  );
  const followed = await following;
  if (typeof followed === 'string') throw new Error(`a killed task was followed to exit code 0: ${followed}`);
  expect(followed.code).toBe(130);
  expect(followed.stdout).toContain('working');
  expect(await bridge.status(taskId)).toMatchObject({ status: 'killed', reason: 'Enough of it.' });
});

it('prune removes what has ended, and neither what runs nor what holds work in a worktree', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const { project } = bridge;
  await bridge.call('init_git_repo', { path: project, initial_branch: 'main' });
  const identity = ['-c', 'user.name=N', '-c', 'user.email=n@example.com'];
  execFileSync('git', [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'first'], {
    cwd: project,
    env: bridge.env,
  });
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
  expect(text).toContain('1 removed');
  const left = await readdir(join(bridge.workplace.stateDir, 'tasks'));
  expect(left.sort()).toEqual([runs, works].sort());
  expect((await readdir(join(project, '.claude', 'worktrees'))).sort()).toEqual(['.gitignore', works].sort());
  await bridge.call('finish_task', { task_id: works, action: 'discard' });
  expect(await tasks(bridge, 'prune', '--keep', '0')).toContain('1 removed');
  await bridge.call('kill_task', { task_id: runs });
});

it('ends, and joins no task, where tasks end with their last server', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_ON_DISCONNECT: 'stop' } });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  expect(await tasks(bridge, 'list')).toContain(taskId);
  await bridge.call('kill_task', { task_id: taskId });
});
