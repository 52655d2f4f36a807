import { symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/system-clock.js';
import { createTaskId } from '../../../../src/base/ids.js';
import { writeJsonFileAtomically } from '../../../../src/base/files/json-file.js';
import { silentLogger } from '../../../../src/base/logger.js';
import { sweep, type SweeperParts } from '../../../../src/keeper/host/sweeper.js';
import { RuntimeDir } from '../../../../src/store/runtime-dir.js';
import { openStateDir, type StateDir } from '../../../../src/store/state-dir.js';
import { sampleRecord } from '../../../tasks/sample-task.js';
import { tempFolder } from '../../../harness/temp-folder.js';

/** An hour ago, in whole seconds: a fraction is rounded on its way to the disk and back. */
const OLD = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_600_000);
let folder: string;
let stateDir: StateDir;
let ended: string[];
beforeEach(async () => {
  folder = await tempFolder();
  stateDir = await openStateDir({ path: join(folder, 'state') });
  ended = [];
});

const parts = (more: Partial<SweeperParts> = {}): SweeperParts => ({
  stateDir,
  runtimeDir: new RuntimeDir(folder),
  clock: systemClock,
  logger: silentLogger,
  settle: async (task_id) => sampleRecord({ task_id, status: 'error' }),
  endMarked: async (mark) => ended.push(mark),
  running: async () => ({ marks: new Set<string>(), commands: '' }),
  ...more,
});

/** The process that starts the task is gone. */
async function startedByDead(taskId: string): Promise<void> {
  const mark = join(stateDir.taskDir(taskId), 'started-by');
  await unlink(mark);
  await symlink(`${2 ** 22 - 1} 1 0123456789abcdef`, mark);
}

async function task(status?: 'running' | 'completed', mark = 'a-mark'): Promise<string> {
  const task_id = createTaskId(Date.now());
  const path = await stateDir.createTaskDir(task_id);
  if (status !== undefined)
    await writeJsonFileAtomically(
      stateDir.recordFile(task_id),
      sampleRecord({ task_id, status, process_mark: mark }),
    );
  else await startedByDead(task_id);
  await utimes(path, OLD, OLD);
  return task_id;
}

describe('a sweep', () => {
  it('gives unfinished tasks to whoever settles them, and names those that had to be ended', async () => {
    const dead = await task('running');
    const alive = await task('running');
    const done = await task('completed');
    const settled: string[] = [];
    const swept = await sweep(
      parts({
        settle: async (task_id) => {
          settled.push(task_id);
          return sampleRecord({ task_id, status: task_id === dead ? 'error' : 'running' });
        },
      }),
    );
    expect(swept.ended).toEqual([dead]);
    expect(settled.sort()).toEqual([dead, alive].sort());
    expect(settled).not.toContain(done);
  });

  it('removes an old folder that still has no record, and of which no keeper runs', async () => {
    const dead = await task();
    const starting = await task();
    const used = await task();
    await writeFile(stateDir.promptFile(used), 'Hello.');
    const commands = `node keeper.js ${starting} /state`;
    const swept = await sweep(parts({ running: async () => ({ marks: new Set<string>(), commands }) }));
    expect(swept.folders).toEqual([dead]);
    expect((await stateDir.listTaskIds()).sort()).toEqual([starting, used].sort());
  });

  it('leaves the folder of a task that a living process starts, whatever the clock says', async () => {
    const [mine, dead] = [createTaskId(Date.now()), await task()];
    await stateDir.createTaskDir(mine);
    const clock = { ...systemClock, now: () => Date.now() + 86_400_000 };
    expect((await sweep(parts({ clock }))).folders).toEqual([dead]);
    expect(await stateDir.listTaskIds()).toEqual([mine]);
  });

  it('ends processes that carry the mark of a task that has ended, and no others', async () => {
    await task('completed', 'of an ended task');
    await task('completed', 'nobody carries it');
    const marks = new Set(['of an ended task', 'of another state directory']);
    await sweep(parts({ running: async () => ({ marks, commands: '' }) }));
    expect(ended).toEqual(['of an ended task']);
  });

  it('removes sockets that nobody listens on, and only those', async () => {
    const listened = join(folder, 'a.sock');
    const left = join(folder, 'b.sock');
    const fresh = join(folder, 'c.sock');
    // A process that is killed leaves its socket.
    const leave = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    for (const path of [left, fresh]) spawnSync(process.execPath, ['-e', leave, path]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(listened, resolve));
    for (const path of [listened, left]) await utimes(path, OLD, OLD);
    const swept = await sweep(parts());
    await new Promise((resolve) => server.close(resolve));
    expect(swept.sockets).toEqual([left]);
    expect(existsSync(fresh)).toBe(true);
  });
});
