import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TaskFiles } from '../../../../src/keeper/main/task-files.js';
import { openTaskFiles } from '../../../keeper/open-task-files.js';
import { sampleRecord, TASK_ID } from '../../../tasks/sample-task.js';

let folder: string;
let log: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'task-files-'));
  log = join(folder, 'task.log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

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

it('of a text that is larger than the log the newest lines are there', async () => {
  const files = await open(1_000);
  const text = Array.from({ length: 400 }, (_, number) => `line ${number}\n`).join('');
  files.log.write(text);
  const newer = await closed(files);
  expect(newer).toMatch(/^\[The log was rotated: /);
  expect(newer.endsWith('\nline 399\n')).toBe(true);
  expect(Buffer.byteLength(newer)).toBeLessThanOrEqual(1_000);
});

it('a failure to write what comes last is reported, also when all was well until then', async () => {
  const { files, recordingFile } = await openTaskFiles({
    statePath: join(folder, 'state'),
    logFile: log,
    maxBytes: 1_000,
  });
  const reports: string[] = [];
  files.follow({ record: sampleRecord(), setStorage: (_state, words) => void reports.push(words) });
  await mkdir(recordingFile);
  // Half a character, which is written at the end alone.
  files.recording.output(Buffer.from('é').subarray(0, 1));
  await files.flush();
  expect(reports.join()).toContain('failing since');
});

it('a link instead of the log is not written through', async () => {
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, log);
  const files = await open(1_000);
  files.log.write('text\n');
  expect(await closed(files)).toBe('precious');
});

it('while the disk fails the newest megabyte is held, and is written when it works again', async () => {
  log = join(folder, 'missing', 'task.log');
  const files = await open(100_000_000);
  for (let count = 0; count < 100; count++) files.log.write(`${'e'.repeat(65_535)}\n`);
  await files.flush();
  await mkdir(join(folder, 'missing'));
  files.log.write('last\n');
  expect((await closed(files, 30_000)).endsWith('last\n')).toBe(true);
  expect((await stat(log)).size).toBeLessThanOrEqual(1024 * 1024 + 100);
});

it('the end of a task, where it is all that the disk did not take, is written as soon as it does', async () => {
  const files = await open(1_000);
  await files.flush();
  const task = join(folder, 'state', 'tasks', TASK_ID);
  await rm(task, { recursive: true });
  // No user can write below a file, not even root.
  await writeFile(task, '');
  await files.records.write(sampleRecord({ status: 'completed' }));
  expect(files.records.isFailing).toBe(true);
  const finished = files.finish(600_000);
  await rm(task);
  await finished;
  expect(files.records.isFailing).toBe(false);
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
