// Pure: matches patterns with wildcards. Time is linear in the product of the lengths, for every pattern.

/** Matches any text, including the empty one. */
export const ANY_TEXT = Symbol('any text');
/** Matches one character. */
export const ANY_CHARACTER = Symbol('any character');

export type Token = string | typeof ANY_TEXT | typeof ANY_CHARACTER;

/**
 * Whether some text matches both `pattern` and `text`. Without a wildcard in `text` this is an ordinary match; a wildcard there
 * is a piece that is not known yet.
 */
export function canMatch(pattern: readonly Token[], text: readonly Token[]): boolean {
  let row = start(text);
  for (const token of pattern) {
    const next = new Uint8Array(text.length + 1);
    for (let at = 0; at <= text.length; at++) {
      const other = at === 0 ? undefined : text[at - 1];
      // Reached without consuming a character of `text`, or through its wildcard, which may contain what the pattern needs.
      let reached = token === ANY_TEXT ? (row[at] ?? 0) : other === ANY_TEXT ? (row[at] ?? 0) : 0;
      if (at > 0) {
        const before = at - 1;
        if (token === ANY_TEXT || other === ANY_TEXT) reached ||= next[before] ?? 0;
        else if (fits(token, other)) reached ||= row[before] ?? 0;
      }
      next[at] = reached;
    }
    if (!next.includes(1)) return false;
    row = next;
  }
  return row[text.length] === 1;
}

/** An empty pattern matches only a text that may be empty. */
function start(text: readonly Token[]): Uint8Array {
  const row = new Uint8Array(text.length + 1);
  row[0] = 1;
  for (let at = 1; at <= text.length && text[at - 1] === ANY_TEXT; at++) row[at] = 1;
  return row;
}

function fits(token: Token, other: Token | undefined): boolean {
  return token === other || token === ANY_CHARACTER || other === ANY_CHARACTER;
}
