// Pure: what came from outside: cursors, misspelt names, JSON of a socket.
import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { BridgeError } from './errors.js';
import { headBytes } from './text.js';

/** More than the longest path of any system needs, with its JSON, in base64. */
const MAX_CURSOR_CHARS = 24_000;
/** With more than three wrong letters, or more than half of them, it is another word. */
const MAX_WRONG_LETTERS = 3;
/** Longer ones are not misspellings, and comparing takes time that grows with their length. */
const MAX_NAME_CHARS = 100;
/** No tool takes deeper nesting, and `JSON.stringify` needs stack for each level. */
const MAX_DEPTH = 200;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`: each pair differs in this bit alone. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The position where a page ended, as text that callers pass back unchanged. */
export function cursorText(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Throws INVALID_ARGUMENTS unless the text is a position of this schema that `cursorText` encoded. */
export function readCursor<T>(schema: z.ZodType<T>, cursor: string): T {
  const isLong = cursor.length > MAX_CURSOR_CHARS;
  const parsed = schema.safeParse(isLong ? undefined : jsonOf(Buffer.from(cursor, 'base64url').toString()));
  if (!parsed.success) throw invalidCursor();
  return parsed.data;
}

/** For a cursor that no answer gave, in whatever form it is written. */
export function invalidCursor(): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    'Invalid cursor.',
    'Pass the cursor from the previous answer unchanged, or omit it to start over.',
  );
}

/** A part of a text from the number in `cursor` on, and the cursor of the rest. Throws INVALID_ARGUMENTS. */
export function textPage(whole: string, cursor: string, maxBytes: number): { text: string; cursor?: string } {
  if (!/^\d+$/.test(cursor)) throw invalidCursor();
  const from = Number(cursor);
  const text = headBytes(whole.slice(from), maxBytes);
  const end = from + text.length;
  return { text, ...(end < whole.length && { cursor: String(end) }) };
}

/** The known name that a misspelt one most resembles. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined;
  let best: string | undefined;
  let fewest = MAX_WRONG_LETTERS + 1;
  for (const candidate of known) {
    const wrong = distance(name, candidate);
    if (wrong >= fewest || wrong * 2 > candidate.length) continue;
    best = candidate;
    fewest = wrong;
  }
  return best;
}

/** The value in a message of a WebSocket, as `ws` gives it (a Buffer, its default); undefined when it is no JSON. */
export function socketJson(data: unknown): unknown {
  return Buffer.isBuffer(data) ? jsonOf(data.toString()) : undefined;
}

/** Whether JSON nests deeper than 200 levels. The result is meaningless for text that is not JSON. */
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

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // The caller says what else it may be.
    return undefined;
  }
}
