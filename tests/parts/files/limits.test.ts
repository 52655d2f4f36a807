import { execFile } from 'node:child_process';
import { chmod, mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { explorerOf, never } from '../../files/explorer.js';
import { faultOf, filesAt } from '../../files/file-service.js';
import { rounds } from '../../harness/rounds.js';
import { swapper } from '../../harness/swapper.js';

const run = promisify(execFile);
const MEGABYTE = 1_000_000;
const NOBODY = 65_534;
const OPEN_MODE = 0o755;

describe.runIf(process.platform === 'linux')('a file of 100 MB', () => {
  test('takes less than 30 MB to read lines in its middle', async () => {
    const root = await tempFolder();
    const path = join(root, 'large.txt');
    const file = await open(path, 'w');
    const lines = 'a line of twenty-five b\n'.repeat(MEGABYTE / 24);
    for (let part = 0; part < 100; part++) await file.write(lines);
    await file.close();
    const program = fileURLToPath(new URL('range-memory-process.ts', import.meta.url));
    const { stdout } = await run(process.execPath, ['--import', 'tsx', program, root, path, '2000000']);
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(Number(stdout)).toBeLessThan(30 * MEGABYTE);
  }, 60_000);
});

test('a file that the user cannot read is reported', async () => {
  const root = await tempFolder();
  const path = join(root, 'closed');
  await writeFile(path, 'secret');
  await chmod(path, 0);
  if (process.getuid?.() === 0) {
    // To root every file is readable, and its temp folder is closed to others.
    await chmod(root, OPEN_MODE);
    await chmod(dirname(root), OPEN_MODE);
    process.seteuid?.(NOBODY);
    onTestFinished(() => process.seteuid?.(0));
  }
  const { files } = filesAt(root);
  const { signal } = new AbortController();
  const range = { path, startLine: 1, endLine: 1, maxBytes: 1_000, signal };
  expect((await faultOf(files.readFile({ path, maxBytes: 1_000 }))).code).toBe('NOT_READABLE');
  expect((await faultOf(files.readRange(range))).code).toBe('NOT_READABLE');
  expect((await faultOf(files.writeFile({ path, content: 'x' }))).code).toBe('NOT_WRITABLE');
});

describe.runIf(process.platform === 'linux')('while another process swaps folders for links', () => {
  test('nothing outside is listed, drawn or found', async () => {
    const root = await tempFolder();
    const outside = await tempFolder();
    await mkdir(join(root, 'top/folder/below'), { recursive: true });
    await writeFile(join(root, 'top/folder/below/inside'), 'needle inside');
    await mkdir(join(outside, 'below'));
    await writeFile(join(outside, 'below/secret'), 'needle secret');
    await symlink(outside, join(root, 'link'));
    await swapper(join(root, 'top/folder'), join(root, 'aside'), join(root, 'link'));
    const explorer = explorerOf(root, { defaultDepth: 5 });
    const path = join(root, 'top');
    let seen = 0;
    for (let turn = 0; turn < rounds(200); turn++) {
      for (const look of [
        () => explorer.list({ path, depth: 5 }, never),
        () => explorer.tree({ path, depth: 5 }, never),
        () => explorer.search({ path, query: 'needle' }, never),
        () => explorer.list({ path: join(path, 'folder'), depth: 5 }, never),
      ]) {
        try {
          const text = JSON.stringify(await look());
          expect(text).not.toContain('secret');
          if (text.includes('inside')) seen++;
        } catch (thrown) {
          if (!(thrown instanceof BridgeError)) throw thrown;
          expect(thrown.message).not.toContain('secret');
        }
      }
    }
    expect(seen).toBeGreaterThan(0);
  }, 30_000);
});
