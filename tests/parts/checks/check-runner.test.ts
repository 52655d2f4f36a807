import { existsSync } from 'node:fs';
import {
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecret } from '../../../src/base/ids.js';
import { checkSchema } from '../../../src/checks/brief.js';
import { linkFolders, runCheck } from '../../../src/checks/check-runner.js';
import { hostLines } from '../../../src/checks/run-command.js';
import { childEnvironment } from '../../../src/pty/child-env.js';
import { thisMachine } from '../../../src/os/process-system.js';

const MEGABYTE = 1_000_000;
let folder: string;
let outputs: string;
let mark: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'checks-')));
  outputs = await mkdtemp(join(tmpdir(), 'checks-'));
  mark = createSecret();
});
afterEach(async () => {
  for (const one of [folder, outputs]) await rm(one, { recursive: true, force: true });
});

/** What comes of one command line; with its processes that still live, which are none. */
async function resultOf(command: string, more: object = {}, signal = new AbortController().signal) {
  const check = checkSchema.parse({ name: 'one', command, timeout_seconds: 20, ...more });
  const env = childEnvironment({ PATH: process.env['PATH'] }, { mark });
  const start = hostLines({ shell: '/bin/sh', env, mark, startedSince: undefined });
  const result = await runCheck(
    check,
    { start, folder, outputFolder: join(outputs, 'out') },
    '1.txt',
    signal,
  );
  const left = (await thisMachine.source.markedTable()).filter((one) => one.mark === mark);
  expect(left).toEqual([]);
  return result;
}

it.each([
  ['true', { verdict: 'met', exit_code: 0 }],
  ['exit 3', { verdict: 'not met', exit_code: 3, why: 'exit code 3' }],
  ['kill -9 $$', { verdict: 'not met', why: 'exit code 137' }],
  ['no-such-program', { verdict: 'not run', exit_code: 127 }],
  ['/dev/null', { verdict: 'not run', exit_code: 126 }],
  ['read -r answer < /dev/tty', { verdict: 'not met' }],
  ['read -r answer', { verdict: 'not met', exit_code: 1 }],
  ['echo out; echo err >&2', { verdict: 'met', output: 'out\nerr\n' }],
])('%s', async (command, wanted) => {
  expect(await resultOf(command)).toMatchObject(wanted);
});

it.each([
  ['hangs', 'trap "" TERM; sleep 100'],
  ['forks', 'sleep 100 & sleep 100 & wait'],
  ['leaves its session', 'setsid sh -c "sleep 100" & sleep 100'],
])('a command that %s is ended with all that it started at its limit', async (_, command) => {
  const result = await resultOf(command, { timeout_seconds: 1 });
  expect(result).toMatchObject({ verdict: 'not met', why: 'it ran longer than 1 s and was ended' });
});

it('what a command leaves running is ended with it, and does not hold it up', async () => {
  expect(await resultOf('setsid sh -c "sleep 100" & echo started')).toMatchObject({
    verdict: 'met',
    output: 'started\n',
  });
});

it('of 200 MB the head, the tail and all in a file are kept', async () => {
  const result = await resultOf(`echo first; yes 0123456789 | head -c ${200 * MEGABYTE}; echo last`);
  expect(result.output).toMatch(/^first\n[\s\S]*bytes left out[\s\S]*last\n$/);
  expect((await stat(result.output_file ?? '')).size).toBe(200 * MEGABYTE + 'first\nlast\n'.length);
  expect((await readFile(result.output_file ?? '')).subarray(-5).toString()).toBe('last\n');
});

it('a check that is stopped was not run, and the next ones neither', async () => {
  const stop = new AbortController();
  const running = resultOf('echo begun > begun; sleep 100', {}, stop.signal);
  while (!existsSync(join(folder, 'begun'))) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  expect(await running).toMatchObject({ verdict: 'not run', why: 'it was stopped before its end' });
});

it('in a folder that is gone nothing runs', async () => {
  await rm(folder, { recursive: true });
  expect(await resultOf('true')).toMatchObject({
    verdict: 'not run',
    why: `the folder ${folder} is no longer there`,
  });
});

it('of the links into a folder only those are removed that are still there', async () => {
  const to = await realpath(folder);
  for (const name of ['one', 'two', 'sub']) await mkdir(join(to, name));
  await writeFile(join(outputs, 'built'), 'kept');
  await writeFile(join(to, 'file'), '');
  const names = ['built', 'one/built', 'two/built', 'sub/built', 'file/built'];
  const { linked, unlink } = await linkFolders(names, outputs, to);
  expect(linked).toEqual(names.slice(0, 4));
  await rm(join(to, 'built'));
  await mkdir(join(to, 'built'));
  await rm(join(to, 'one'), { recursive: true });
  await rename(join(to, 'sub'), join(to, 'moved'));
  await symlink(outputs, join(to, 'sub'));
  await unlink();
  expect((await lstat(join(to, 'built'))).isDirectory()).toBe(true);
  expect(await readFile(join(outputs, 'built'), 'utf8')).toBe('kept');
  expect(existsSync(join(to, 'two', 'built'))).toBe(false);
  await expect(lstat(join(to, 'two', 'built'))).rejects.toThrow('ENOENT');
});
