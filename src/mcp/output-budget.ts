// Pure: how large answers may be.

/** What an answer holds at most unless its caller asked for more. */
export const REPLY_BUDGET_BYTES = 16_384;
/** No answer is larger, whoever asks: clients close the connection at 10 MiB, and cut far earlier. */
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
  return surelyFits(text) || jsonFits(wireBytes(text));
}

/** True when `jsonBytes`, the size of a text as JSON, in both copies keeps an answer below the limit. */
export function jsonFits(jsonBytes: number): boolean {
  return jsonBytes * COPIES + FRAME_BYTES <= MAX_REPLY_BYTES;
}

/** True for texts so short that they fit whatever is in them. */
export function isShort(text: string): boolean {
  return text.length * COPIES * LONGEST_ESCAPE + FRAME_BYTES <= MAX_REPLY_BYTES;
}

/** True when an answer that reads as `text` is below the limit whatever its form: to write it out for that alone would double its cost. */
export function surelyFits(text: string): boolean {
  if (isShort(text)) return true;
  const growth = hasLongEscapes.test(text) ? COPIES * LONGEST_ESCAPE : SHORT_ESCAPE + STRUCTURE_GROWTH;
  return text.length * growth + FRAME_BYTES <= MAX_REPLY_BYTES;
}

/** Units that become more than two bytes. */
const hasLongEscapes = /[\u0000-\u0007\u000b\u000e-\u001f\u007f-\uffff]/;
/** `\u0000`; three bytes are the most that a unit has unescaped. */
const LONGEST_ESCAPE = 6;
/** `\n`, `\"`. */
const SHORT_ESCAPE = 2;
/** The structured form of what reads `a:` and a line end is `"a":{},`: of seven for three. */
const STRUCTURE_GROWTH = 7 / 3;

/** How many of `items`, from the first on, fit into the budget; at least one, so that paging goes on. */
export function fittingCount(items: readonly unknown[], budgetBytes: number = REPLY_BUDGET_BYTES): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += wireBytes(item) + 1;
    if (bytes > budgetBytes) return Math.max(1, index);
  }
  return items.length;
}
