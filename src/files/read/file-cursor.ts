import { createHash } from 'node:crypto';
import { z } from 'zod';
import { cursorText, readCursor } from '../../base/cursor.js';
import { BridgeError } from '../../base/errors.js';

/** Where in a file the next page begins. */
export interface FilePlace {
  /** The first line of the page, 1 is the first of the file. */
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

/** Valid only as long as the file is unchanged. */
export function fileCursor(place: FilePlace, stamp: string): string {
  return cursorText({ ...place, stamp: shortStamp(stamp) });
}

/** Throws INVALID_ARGUMENTS for what is no cursor, FILE_CHANGED for one of another state of the file. */
export function placeOfCursor(cursor: string, stamp: string): FilePlace {
  const { line, offset, stamp: short } = readCursor(positionSchema, cursor);
  if (short !== shortStamp(stamp)) {
    throw new BridgeError(
      'FILE_CHANGED',
      `The file was changed or replaced since the answer that gave the cursor; that one ended before line ${line}.`,
      'Read it again without a cursor, or go on by read_file_range.',
    );
  }
  return { line, offset };
}

function shortStamp(stamp: string): string {
  return createHash('sha256').update(stamp).digest('base64url').slice(0, STAMP_CHARS);
}
