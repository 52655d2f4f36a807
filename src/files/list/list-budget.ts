import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { ListedEntry } from './list-page.js';
import type { ListedFile } from './listed-file.js';

const SHOWN_TARGET_CHARS = 200;

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

/** Size of an entry as JSON. */
export function jsonBytes(entry: ListedFile | string): number {
  return Buffer.byteLength(JSON.stringify(entry));
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
