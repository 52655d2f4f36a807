import { realpath } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tempFolder } from '../../config/temp-folder.js';
import { explorerOf, never, writeTree } from '../explorer.js';

/** Over a line of megabytes it takes minutes, and no other program than RE2 is asked about it. */
const SLOW = '(\\p{L}?a? ?b?){60}\\p{Nd}';

test('a file that takes longer than the time of a page is named, and the cursor continues after it', async () => {
  const root = await realpath(await tempFolder());
  await writeTree(root, { 'a.txt': 'a b '.repeat(2_000_000), 'b.txt': 'ab1', 'c.txt': 'none' });
  const explorer = explorerOf(root);
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  onTestFinished(() => spy.mockRestore());
  const search = explorer.search({ query: SLOW, regex: true, path: root }, never);
  // Others are served while it is searched; then the time of the page is over.
  setTimeout(() => (aheadMs = 60_000), 500);
  const first = await search;
  expect(first.matches).toEqual([]);
  expect(first.note).toContain('a.txt was searched only in part');
  const second = await explorer.search({ query: SLOW, regex: true, path: root, cursor: first.cursor }, never);
  expect(second.matches.map(({ path }) => path)).toEqual(['b.txt']);
  expect(second.cursor).toBeUndefined();
});

test('a search for names that takes longer than the time of a page continues with a cursor', async () => {
  const root = await realpath(await tempFolder());
  const names = Array.from({ length: 400 }, (_, number) => `${'ab'.repeat(100)}${number + 100}`);
  await writeTree(root, Object.fromEntries(names.map((name) => [name, ''])));
  const explorer = explorerOf(root, { searchLimitMs: 400 });
  const found: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await explorer.search({ query: SLOW, regex: true, names: true, path: root, cursor }, never);
    found.push(...page.matches.map(({ path }) => path));
    cursor = page.cursor;
    pages++;
  } while (cursor !== undefined);
  expect(found).toEqual(names);
  expect(pages).toBeGreaterThan(1);
});
