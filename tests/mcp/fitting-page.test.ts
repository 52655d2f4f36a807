import { expect, test } from 'vitest';
import { fittingPage } from '../../src/mcp/answers.js';
import { readable } from '../../src/mcp/answers.js';

interface Page {
  readonly content: string;
  readonly note: string;
}

const PAGE_BYTES = 1_000;
const answerOf = (page: Page) => ({ path: '/p/a.txt', ...page });
const sizeOf = (page: Page): number => Buffer.byteLength(readable(answerOf(page)));

function pageFrom(maxBytes: number, minBytes = 100): Promise<Page> {
  return fittingPage<Page, number>({
    maxBytes,
    minBytes,
    read: async (bytes) => ({
      content: 'x\n'.repeat(Math.floor(bytes / 2)),
      note: `${5_000 - bytes} bytes are left`,
    }),
    text: ({ content }) => content,
    whole: { bytes: PAGE_BYTES, of: answerOf },
  });
}

test('a text and the facts before it take no more than a page', async () => {
  const page = await pageFrom(PAGE_BYTES);
  expect(sizeOf(page)).toBeLessThanOrEqual(PAGE_BYTES);
  expect(sizeOf(page)).toBeGreaterThan(990);
});

test('what fits, what was wanted longer, and what would be too short stay as they are', async () => {
  for (const [bytes, minBytes] of [
    [500, 100],
    [3_000, 100],
    [1_000, 990],
  ] as const)
    expect((await pageFrom(bytes, minBytes)).content).toHaveLength(bytes);
});
