import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { ListedEntry } from './list-page.js';
import type { ListedFile } from './listed-file.js';

const SHOWN_TARGET_CHARS = 200;
/** Names without escapes in JSON. */
const PLAIN_NAME = /^[ !#-[\]-~]*$/;
const QUOTES_BYTES = 2;
const FILE_FRAME_BYTES = '{"name":"","type":"file","size":}'.length;

/** Counts bytes. The first item always fits, so that every page makes progress. */
export class ByteBudget {
  #left: number;
  #isFirst = true;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** False when `bytes` do not fit any more. */
  spend(bytes: number): boolean {
    if (bytes > this.#left && !this.#isFirst) return false;
    this.#isFirst = false;
    this.#left -= bytes;
    return true;
  }
}

/** Size of `file` as JSON. A regular file is computed without serializing it, which would take ten times as long. */
export function fileBytes(file: ListedFile): number {
  const { name, type, size, target, note } = file;
  const isOrdinary = type === 'file' && size !== undefined && target === undefined && note === undefined;
  if (isOrdinary && PLAIN_NAME.test(name)) return FILE_FRAME_BYTES + name.length + `${size}`.length;
  return Buffer.byteLength(JSON.stringify(file));
}

/** Size of `name` as JSON. */
export function nameBytes(name: string): number {
  return PLAIN_NAME.test(name) ? name.length + QUOTES_BYTES : Buffer.byteLength(JSON.stringify(name));
}

/** Size of a file, undefined when it was removed. Synchronous: its folder was just read, so the kernel answers from memory. */
export function sizeOf({ parent, entry }: ListedEntry): number | undefined {
  try {
    return lstatSync(`${parent.fdPath}/${entry.name}`, { throwIfNoEntry: false })?.size;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

/** Target of a link, on one line; undefined when it was removed. */
export function targetOf({ parent, entry }: ListedEntry): string | undefined {
  try {
    return oneLine(readlinkSync(join(parent.fdPath, entry.name)), SHOWN_TARGET_CHARS);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
