import { lstatSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { triedInFolder } from './in-folder.js';
import type { ListedEntry } from './list-page.js';
import { FIRST_PART } from './ordered-entries.js';
import type { WalkedFolder } from './walk-folder.js';

/** Looked at together: what comes behind a file that is shown most often is shown, too. */
const LOOKED_AT_ONCE = 40;
/** Of a page that is larger than the usual: a millisecond or two of work. */
const MANY_AT_ONCE = 320;
/** Fewer are looked at sooner than the way into their folder and back is gone. */
const WORTH_THE_WAY = 6;

/** Sizes of the files of a listing, in its order, a few looked at ahead. */
export class SizesAhead {
  readonly #hasDescriptorPaths: boolean;
  #folder: WalkedFolder | undefined;
  #lookedAt = 0;
  /** Of the entries of the folder from index `#from` on. */
  #sizes: (number | undefined)[] = [];
  #from = 0;

  constructor(hasDescriptorPaths: boolean) {
    this.#hasDescriptorPaths = hasDescriptorPaths;
  }

  /**
   * Bytes, at once: the folder was read this very moment, so the answer lies in memory, and a turn through the thread pool would
   * take ten times as long. Undefined when the file is gone.
   */
  of({ parent, index }: ListedEntry): number | undefined {
    const isKnown = parent === this.#folder && index >= this.#from && index < this.#from + this.#sizes.length;
    if (!isKnown) this.#look(parent, index);
    return this.#sizes[index - this.#from];
  }

  #look(folder: WalkedFolder, from: number): void {
    const count = this.#lookedAt < FIRST_PART ? LOOKED_AT_ONCE : MANY_AT_ONCE;
    const end = Math.min(from + count, folder.entries.length);
    this.#lookedAt += count;
    this.#folder = folder;
    this.#from = from;
    if (this.#hasDescriptorPaths && end - from >= WORTH_THE_WAY && this.#lookInside(folder, end)) return;
    this.#sizes = sizesOf(folder, from, end, `${folder.place}/`);
  }

  /** False when there is no way into the folder. */
  #lookInside(folder: WalkedFolder, end: number): boolean {
    return triedInFolder(folder.place, () => {
      this.#sizes = sizesOf(folder, this.#from, end, '');
    });
  }
}

function sizesOf(folder: WalkedFolder, from: number, end: number, way: string): (number | undefined)[] {
  const sizes: (number | undefined)[] = [];
  for (let index = from; index < end; index++) {
    const entry = folder.entries.at(index);
    sizes.push(entry?.type === 'file' ? sizeOf(way + entry.name) : undefined);
  }
  return sizes;
}

function sizeOf(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.size;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
