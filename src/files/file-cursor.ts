import { createHash } from 'node:crypto';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';

/** Where in a file the next page begins. */
export interface FilePlace {
  /** The first line of the page, 1 is the first of the file. */
  readonly line: number;
  /** Bytes before the page; inside the line when the line is longer than a page. */
  readonly offset: number;
}

const STAMP_CHARS = 10;
const SHOWN_CHARS = 40;

/** `<line>:<offset>:<short stamp>`: right only as long as the file is as it was. */
export function fileCursor(place: FilePlace, stamp: string): string {
  return `${place.line}:${place.offset}:${shortStamp(stamp)}`;
}

/** Throws INVALID_ARGUMENTS for what is no cursor, FILE_CHANGED for one of another state of the file. */
export function placeOfCursor(cursor: string, stamp: string): FilePlace {
  const [, line, offset, short] = /^(\d{1,15}):(\d{1,15}):([\w-]+)$/.exec(cursor) ?? [];
  if (line === undefined || offset === undefined) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `'${oneLine(cursor, SHOWN_CHARS)}' is no cursor of this tool.`,
      'Use the cursor of the last answer, or none.',
    );
  }
  if (short !== shortStamp(stamp)) {
    throw new BridgeError(
      'FILE_CHANGED',
      `The file was changed or replaced since the answer that gave the cursor; that one ended before line ${line}.`,
      'Read it again without a cursor, or go on by read_file_range.',
    );
  }
  return { line: Number(line), offset: Number(offset) };
}

function shortStamp(stamp: string): string {
  return createHash('sha256').update(stamp).digest('base64url').slice(0, STAMP_CHARS);
}
