import { z } from 'zod';
import { cursorText, readCursor } from '../../base/input.js';

const positionSchema = z.strictObject({ p: z.array(z.string().min(1)).min(1), d: z.boolean() });

/** The entry after which a listing continues. */
export interface ListPosition {
  readonly segments: readonly string[];
  readonly isFolder: boolean;
}

export function cursorAt(position: ListPosition): string {
  return cursorText({ p: position.segments, d: position.isFolder });
}

/** Throws INVALID_ARGUMENTS for a text that is not from `cursorAt`. */
export function positionOf(cursor: string): ListPosition {
  const { p, d } = readCursor(positionSchema, cursor);
  return { segments: p, isFolder: d };
}
