import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { TaskFiles } from '../../../../src/keeper/main/task-files.js';
import { openTaskFiles } from '../../../keeper/open-task-files.js';
import { tempFolder } from '../../../harness/temp-folder.js';

let folder: string;
let log: string;
beforeEach(async () => {
  folder = await tempFolder();
  log = join(folder, 'task.log');
});

async function open(maxBytes: number): Promise<TaskFiles> {
  return (await openTaskFiles({ statePath: join(folder, 'state'), logFile: log, maxBytes })).files;
}

/** Waits for the disk, closes all, and gives what the log is now. */
async function closed(files: TaskFiles, limitMs = 0): Promise<string> {
  await files.flush();
  await files.finish(limitMs);
  return readFile(log, 'utf8');
}

it('the log holds the newest entries within its bound, none of them split, for its user alone, and says what is gone', async () => {
  const files = await open(10_000);
  const entries = Array.from({ length: 5_000 }, (_, at) => `entry ${String(at).padStart(4, '0')} é\n`);
  for (const entry of entries) files.log.write(entry);
  const newer = await closed(files);
  const older = await readFile(`${log}.1`, 'utf8');
  const [note = '', ...kept] = `${older}${newer}`.split('\n').filter((line) => line !== '');
  const lines = kept.filter((line) => !line.startsWith('['));
  expect(lines).toEqual(entries.slice(-lines.length).map((entry) => entry.trimEnd()));
  expect(Number(/^\[The log was rotated: its first (\d+) bytes are gone\]$/.exec(note)?.[1])).toBeGreaterThan(
    0,
  );
  const bytes = Buffer.byteLength(older + newer);
  expect([bytes > 10_000, bytes <= 20_000]).toEqual([true, true]);
  expect((await stat(log)).mode & 0o777).toBe(0o600);
});

it('a link instead of the log is not written through', async () => {
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, log);
  const files = await open(1_000);
  files.log.write('text\n');
  expect(await closed(files)).toBe('precious');
});

it('an entry that a full disk cut in half is whole once there is space again', async ({ skip }) => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  skip(status !== 0, 'a small disk needs a user who may mount one');
  try {
    log = join(disk, 'task.log');
    const entry = (letter: string) => letter.repeat(16 * 1024);
    const files = await open(40_000_000);
    const filler = join(disk, 'filler');
    // Room for an entry and a half.
    await writeFile(filler, Buffer.alloc(1024 * 1024 - 24 * 1024));
    files.log.write(entry('f'));
    files.log.write(entry('g'));
    files.log.write(entry('h'));
    await files.flush();
    await rm(filler);
    files.log.write('end\n');
    expect(await closed(files, 30_000)).toBe(`${entry('f')}${entry('g')}${entry('h')}end\n`);
  } finally {
    execFileSync('umount', ['-l', disk]);
  }
});
