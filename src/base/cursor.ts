// Pure: the position where a page ended, as text that callers pass back unchanged.
import type { z } from 'zod';
import { BridgeError } from './errors.js';
import { headBytes } from './text/text.js';

/** More than the longest path of any system needs, with its JSON, in base64. */
const MAX_CURSOR_CHARS = 24_000;

export function cursorText(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Throws INVALID_ARGUMENTS unless the text is a position of this schema that `cursorText` encoded. */
export function readCursor<T>(schema: z.ZodType<T>, cursor: string): T {
  const parsed = cursor.length > MAX_CURSOR_CHARS ? undefined : schema.safeParse(jsonOf(cursor));
  if (parsed?.success === true) return parsed.data;
  throw invalidCursor();
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

function jsonOf(cursor: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return value;
  } catch {
    // Not JSON, so not a cursor: the caller reports it.
    return undefined;
  }
}
