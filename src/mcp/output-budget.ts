// Pure: how large answers may be.
import type { JsonObject } from './json-object.js';
import { readable } from './readable.js';

/** What an answer holds at most unless its caller asked for more. */
export const REPLY_BUDGET_BYTES = 16_384;
/** A page of a text, of which a caller wants much at once: clients cut answers above some 40,000 characters. */
export const TEXT_PAGE_BYTES = 32_768;
/** No answer is larger: clients close the connection at 10 MiB, and truncate far earlier. */
export const MAX_REPLY_BYTES = 1_000_000;
/** Part of an answer that is not its text: names, cursors, annotations, the frame of the protocol. */
const FRAME_BYTES = 40_000;
/** The text of an answer travels twice: readable, and inside the structured form. */
const COPIES = 2;

/** Size of a value on the wire. */
export function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** True when `text`, escaped and in both copies, keeps an answer below the limit. */
export function textFits(text: string): boolean {
  return wireBytes(text) * COPIES + FRAME_BYTES <= MAX_REPLY_BYTES;
}

/** How many of `items`, from the first on, fit into the budget; at least one, so that paging goes on. */
export function fittingCount(items: readonly unknown[], budgetBytes: number = REPLY_BUDGET_BYTES): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += wireBytes(item) + 1;
    if (bytes > budgetBytes) return Math.max(1, index);
  }
  return items.length;
}

/** A shorter text may make the facts before it a few digits longer. */
const MAX_TRIES = 4;

/**
 * What `read` gives for `maxBytes`; undefined means the reader's own limit. Text that grows when it is escaped is read again in
 * half the size, down to `minBytes`, so that no answer exceeds the limit of a reply. `larger` is the page that did not fit.
 */
export async function readFitting<Page, Limit extends number | undefined>(
  { maxBytes, minBytes }: { readonly maxBytes: Limit; readonly minBytes: number },
  read: (maxBytes: Limit | number, larger: Page | undefined) => Promise<Page>,
  textOf: (page: Page) => string,
): Promise<Page> {
  let limit: Limit | number = maxBytes;
  let page: Page | undefined;
  for (;;) {
    page = await read(limit, page);
    const text = textOf(page);
    const half = Math.floor(Math.min(limit ?? Infinity, Buffer.byteLength(text)) / 2);
    if (textFits(text) || half < minBytes) return page;
    limit = half;
  }
}

/**
 * `page`, or one so much shorter that the whole answer, its facts and the text in `body`, takes at most `pageBytes` as it is read.
 * A text that is longer alone was requested so.
 */
export async function withinPage<Page>(
  first: Page,
  {
    pageBytes = TEXT_PAGE_BYTES,
    minBytes,
  }: { readonly pageBytes?: number | undefined; readonly minBytes: number },
  read: (maxBytes: number, larger: Page) => Promise<Page>,
  answer: { readonly of: (page: Page) => JsonObject; readonly text: (page: Page) => string },
): Promise<Page> {
  let page = first;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const over = Buffer.byteLength(readable(answer.of(page))) - pageBytes;
    const bytes = Buffer.byteLength(answer.text(page));
    if (over <= 0 || bytes > pageBytes || bytes - over < minBytes) return page;
    page = await read(bytes - over, page);
  }
  return page;
}
