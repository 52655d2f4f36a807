// Pure: where a reader goes on, as text that callers pass back unseen.
import type { z } from 'zod';
import { BridgeError } from '../base/errors.js';

export function cursorText(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Throws INVALID_ARGUMENTS for what this server never gave out. */
export function readCursor<T>(schema: z.ZodType<T>, cursor: string): T {
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (parsed.success) return parsed.data;
  } catch {
    // No JSON: not one of ours, as below.
  }
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    'The cursor is not one that this tool gave.',
    'Pass the cursor of the last answer unchanged, or leave it out to begin anew.',
  );
}
