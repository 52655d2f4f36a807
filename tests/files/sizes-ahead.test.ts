import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test, expect } from 'vitest';
import { explorerOf } from './explorer.js';

const never = new AbortController().signal;
const FILES = 700;
const PAGE_BYTES = 5_000;

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sizes-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('each file has its own size, folder after folder and page after page', async () => {
  const root = await tempFolder();
  const own = process.cwd();
  const expected = new Map<string, number | undefined>();
  for (const folder of ['a', 'b/c', '.']) {
    await mkdir(join(root, folder), { recursive: true });
    for (let n = 0; n < FILES; n++) {
      const name = join(folder, `${n % 2 === 0 ? 'F' : 'f'}${n}.txt`);
      await writeFile(join(root, name), 'x'.repeat(n % 97));
      expected.set(name, n % 97);
    }
  }
  await symlink('a', join(root, 'b', 'link'));
  for (const name of ['a', 'b', 'b/c', 'b/link']) expected.set(name, undefined);
  const explorer = explorerOf(root);
  const seen = new Map<string, number | undefined>();
  let cursor: string | undefined;
  do {
    const page = await explorer.list({ path: root, depth: 3, cursor, maxBytes: PAGE_BYTES }, never);
    for (const { name, size } of page.entries) seen.set(name, size);
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(expected);
  expect(process.cwd()).toBe(own);
});
