import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import type { ListedEntry } from './list-page.js';

const SHOWN_TARGET_CHARS = 200;

/** Counts bytes; at least one thing always fits, so that every page goes on. */
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

/**
 * Size of a file in bytes, at once: the folder was read this very moment, so the answer lies in memory, and a turn through
 * the thread pool would take ten times as long. Undefined when it is gone.
 */
export function sizeOf({ parent, entry }: ListedEntry): number | undefined {
  try {
    return lstatSync(`${parent.place}/${entry.name}`, { throwIfNoEntry: false })?.size;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

/** Where a link points, on one line and not followed. Undefined when it is gone. */
export function targetOf({ parent, entry }: ListedEntry): string | undefined {
  try {
    return oneLine(readlinkSync(join(parent.place, entry.name)), SHOWN_TARGET_CHARS);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
