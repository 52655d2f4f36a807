// Pure.
import type { JsonObject } from './json-object.js';
import { textFits, TEXT_PAGE_BYTES } from './output-budget.js';
import { readable } from './readable.js';

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
 * A text that is longer by itself was wanted so.
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
