// Pure: how large answers may be.

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
