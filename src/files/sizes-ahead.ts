import { lstatSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { inFolder } from './in-folder.js';
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
  #sizes = new Map<string, number | undefined>();

  constructor(hasDescriptorPaths: boolean) {
    this.#hasDescriptorPaths = hasDescriptorPaths;
  }

  /**
   * Bytes, at once: the folder was read this very moment, so the answer lies in memory, and a turn through the thread pool would
   * take ten times as long. Undefined when the file is gone.
   */
  of({ parent, entry, index }: ListedEntry): number | undefined {
    if (parent !== this.#folder || !this.#sizes.has(entry.name)) this.#look(parent, index);
    return this.#sizes.get(entry.name);
  }

  #look(folder: WalkedFolder, from: number): void {
    const names: string[] = [];
    const count = this.#lookedAt < FIRST_PART ? LOOKED_AT_ONCE : MANY_AT_ONCE;
    this.#lookedAt += count;
    for (let index = from; index < from + count; index++) {
      const entry = folder.entries.at(index);
      if (entry?.type === 'file') names.push(entry.name);
    }
    this.#folder = folder;
    this.#sizes = new Map();
    if (this.#hasDescriptorPaths && names.length >= WORTH_THE_WAY && this.#lookInside(folder, names)) return;
    for (const name of names) this.#sizes.set(name, sizeOf(`${folder.place}/${name}`));
  }

  /** False when there is no way into the folder. */
  #lookInside(folder: WalkedFolder, names: readonly string[]): boolean {
    try {
      inFolder(folder.place, () => {
        for (const name of names) this.#sizes.set(name, sizeOf(name));
      });
      return true;
    } catch (thrown) {
      if (systemCodeOf(thrown) === undefined) throw thrown;
      return false;
    }
  }
}

function sizeOf(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.size;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
