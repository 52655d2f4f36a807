// Pure.
/** Longer texts, and deeper ones, are shown as they are written: to parse them could stop the page. */
const MAX_CHARS = 100_000;
const DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){20}/m;

/** Whether a text may be parsed as Markdown. */
export function isReadable(text: string): boolean {
  return text.length <= MAX_CHARS && !DEEP.test(text);
}
