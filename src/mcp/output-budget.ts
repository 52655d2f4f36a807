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
/** Halving takes eleven from the largest page to the smallest one. */
const MAX_TRIES = 12;

/** Size of a value on the wire. */
export function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
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

/** How `fittingPage` reads. */
export interface Paging<Page, Limit extends number | undefined> {
  /** Of the first read; undefined means the reader's own limit. */
  readonly maxBytes: Limit;
  /** No page is made smaller. */
  readonly minBytes: number;
  /** `larger` is the page that did not fit. */
  read(maxBytes: Limit | number, larger: Page | undefined): Promise<Page>;
  text(page: Page): string;
  /** The answer takes so many bytes as it is read, unless its text alone was requested longer; left out, only the limit of a reply counts. */
  readonly whole?: { readonly bytes: number; of(page: Page): JsonObject } | undefined;
}

/** The largest page with which an answer fits: text that grows when it is escaped, or that leaves no room for the facts, is read again, shorter. */
export async function fittingPage<Page, Limit extends number | undefined>(
  paging: Paging<Page, Limit>,
): Promise<Page> {
  let limit: Limit | number = paging.maxBytes;
  let page: Page | undefined;
  for (let tries = 0; ; tries++) {
    page = await paging.read(limit, page);
    const text = paging.text(page);
    const bytes = Buffer.byteLength(text);
    const isSendable = wireBytes(text) * COPIES + FRAME_BYTES <= MAX_REPLY_BYTES;
    const shorter = isSendable
      ? bytes - excessBytes(paging, page, bytes)
      : Math.floor(Math.min(limit ?? Infinity, bytes) / 2);
    if (shorter >= bytes || shorter < paging.minBytes || tries === MAX_TRIES) return page;
    limit = shorter;
  }
}

function excessBytes<Page>(
  { whole }: Pick<Paging<Page, undefined>, 'whole'>,
  page: Page,
  textBytes: number,
): number {
  if (whole === undefined || textBytes > whole.bytes) return 0;
  return Math.max(0, Buffer.byteLength(readable(whole.of(page))) - whole.bytes);
}
