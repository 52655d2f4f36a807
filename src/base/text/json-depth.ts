/** No tool takes deeper nesting, and `JSON.stringify` needs stack for each level. */
const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each pair differs in this bit alone. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Pure: whether JSON nests deeper than 200 levels. The result is meaningless for text that is not JSON. */
export function isDeepJson(text: Uint8Array): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (isString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isString = false;
    } else if (byte === QUOTE) isString = true;
    else if ((byte | BRACE_BIT) === OPEN) {
      depth++;
      if (depth > MAX_DEPTH) return true;
    } else if ((byte | BRACE_BIT) === CLOSE) depth--;
  }
  return false;
}
