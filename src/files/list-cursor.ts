import { z } from 'zod';
import { BridgeError } from '../base/errors.js';

/** Longer than any path of a system plus its frame, in base64. */
const MAX_CURSOR_CHARS = 24_000;

const positionSchema = z.strictObject({ p: z.array(z.string().min(1)).min(1), d: z.boolean() });

/** The entry after which a listing goes on. */
export interface ListPosition {
  readonly segments: readonly string[];
  readonly isFolder: boolean;
}

export function cursorAt(position: ListPosition): string {
  return Buffer.from(JSON.stringify({ p: position.segments, d: position.isFolder })).toString('base64url');
}

/** Throws INVALID_ARGUMENTS for what `cursorAt` did not make. */
export function positionOf(cursor: string): ListPosition {
  const parsed = cursor.length > MAX_CURSOR_CHARS ? undefined : positionSchema.safeParse(jsonOf(cursor));
  if (parsed?.success === true) return { segments: parsed.data.p, isFolder: parsed.data.d };
  throw invalidCursor();
}

export function invalidCursor(): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    'The cursor is none that this tool gave.',
    'Give the cursor of the previous answer as it was, with the same other arguments, or none to begin anew.',
  );
}

export function jsonOf(cursor: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return value;
  } catch {
    // No cursor of ours: the caller says so.
    return undefined;
  }
}
