import { textFits } from './output-budget.js';

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
