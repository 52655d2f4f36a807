import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemCodeOf } from '../../../src/base/errors.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';

/** Paths below `folder` of which somebody has one of the rights in `bits`; links have none of their own. */
async function openTo(bits: number, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stats = await lstat(path).catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    // A keeper that leaves removes its files.
    if (stats === undefined) continue;
    const { mode } = stats;
    if (!entry.isSymbolicLink() && (mode & bits) !== 0) found.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

it('with umask 000 nothing becomes writable by others, and state and logs stay private', async () => {
  const bridge = await startBridge({
    claude: scriptedAgent,
    command: ['/bin/sh', '-c', 'umask 000; exec "$0" "$1"', process.execPath, serverEntry],
  });
  const { project, workplace } = bridge;
  await bridge.call('init_git_repo', { path: project, initial_branch: 'main' });
  await bridge.call('create_directory', { path: join(project, 'src') });
  await bridge.call('write_file', { path: join(project, 'src', 'a.txt'), content: 'one\n' });
  const runs = await bridge.start({ path: project, prompt: 'AGENT: never-exits' });
  expect(await openTo(0o002, project)).toEqual([]);
  const socketFolder = join(workplace.stateDir, 'sockets');
  expect((await lstat(socketFolder)).mode & 0o077).toBe(0);
  await bridge.call('kill_task', { task_id: runs });
  // What git writes there lies in a folder that is private itself.
  const open = await openTo(0o077, workplace.stateDir);
  expect(open.filter((path) => !path.includes('/objects/'))).toEqual([]);
  expect((await lstat(join(workplace.stateDir, 'tasks', runs, 'objects'))).mode & 0o077).toBe(0);
  const logs = join(project, '.claude', 'mcp-logs');
  expect((await lstat(logs)).mode & 0o077).toBe(0);
  expect((await openTo(0o077, logs)).filter((line) => !line.includes('.gitignore'))).toEqual([]);
});
