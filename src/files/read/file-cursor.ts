import { createHash } from 'node:crypto';
import { z } from 'zod';
import { cursorText, readCursor } from '../../base/input.js';
import { BridgeError } from '../../base/errors.js';

/** The start of a page in a file. */
export interface FilePosition {
  /** The first line of the page, from 1. */
  readonly line: number;
  /** Bytes before the page; inside the line when the line is longer than a page. */
  readonly offset: number;
}

const STAMP_CHARS = 10;
const positionSchema = z.strictObject({
  line: z.int().min(1),
  offset: z.int().min(0),
  stamp: z.string(),
});

/** A cursor that is valid while the file is unchanged. */
export function fileCursor(position: FilePosition, stamp: string): string {
  return cursorText({ ...position, stamp: shortStamp(stamp) });
}

/** Throws INVALID_ARGUMENTS for an invalid cursor, FILE_CHANGED for a cursor of another version of the file. */
export function positionOfCursor(cursor: string, stamp: string): FilePosition {
  const { line, offset, stamp: short } = readCursor(positionSchema, cursor);
  if (short !== shortStamp(stamp)) {
    throw new BridgeError(
      'FILE_CHANGED',
      `The file changed after the page with this cursor, which ended before line ${line}.`,
      'Read it again without a cursor, or continue with read_file_range.',
    );
  }
  return { line, offset };
}

function shortStamp(stamp: string): string {
  return createHash('sha256').update(stamp).digest('base64url').slice(0, STAMP_CHARS);
}
