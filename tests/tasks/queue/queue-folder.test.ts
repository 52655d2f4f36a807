import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { StateDir } from '../../../src/store/state-dir.js';
import { QueueFolder } from '../../../src/tasks/queue/queue-folder.js';

it('a ticket whose writer was killed is found and removed, and nothing else is', async () => {
  const root = await mkdtemp(join(tmpdir(), 'queue-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const stateDir = new StateDir(root);
  const folder = new QueueFolder(stateDir, silentLogger);
  expect([await folder.tickets(), folder.hasUnfinished]).toEqual([[], false]);
  await mkdir(stateDir.queueDir, { recursive: true });
  await writeFile(join(stateDir.queueDir, '.0123456789ab.tmp'), '{');
  await writeFile(join(stateDir.queueDir, 'note.txt'), '');
  expect([await folder.tickets(), folder.hasUnfinished]).toEqual([[], true]);
  await folder.removeUnfinished();
  expect([folder.hasUnfinished, await readdir(stateDir.queueDir)]).toEqual([false, ['note.txt']]);
});
