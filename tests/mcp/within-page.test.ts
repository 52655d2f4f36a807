import { expect, test } from 'vitest';
import { withinPage } from '../../src/mcp/output-budget.js';
import { readable } from '../../src/mcp/readable.js';

interface Page {
  readonly content: string;
  readonly note: string;
}

const limits = { pageBytes: 1_000, minBytes: 100 };
const answer = { of: (page: Page) => ({ path: '/p/a.txt', ...page }), text: (page: Page) => page.content };

function pageOf(bytes: number): Page {
  return { content: 'x\n'.repeat(bytes / 2), note: `${5_000 - bytes} bytes are left` };
}

async function read(maxBytes: number): Promise<Page> {
  return pageOf(Math.floor(maxBytes / 2) * 2);
}

const sizeOf = (page: Page): number => Buffer.byteLength(readable(answer.of(page)));

test('a text and the facts before it take no more than a page', async () => {
  expect(sizeOf(pageOf(1_000))).toBeGreaterThan(1_000);
  const page = await withinPage(pageOf(1_000), limits, read, answer);
  expect(sizeOf(page)).toBeLessThanOrEqual(1_000);
  expect(sizeOf(page)).toBeGreaterThan(990);
});

test('what fits, what was wanted longer, and what would be too short stay as they are', async () => {
  for (const [page, minBytes] of [
    [pageOf(500), 100],
    [pageOf(3_000), 100],
    [pageOf(1_000), 990],
  ] as const)
    expect(await withinPage(page, { ...limits, minBytes }, read, answer)).toBe(page);
});
