import type { Stats } from 'node:fs';
import { namesInOrder } from './names-in-order.js';
import { isSettled } from './settled.js';
import type { WalkEntry } from './walk-entry.js';

/** What the names in a folder tell. */
export interface FolderNames {
  /** Without the hidden ones. */
  readonly entries: readonly WalkEntry[];
  /** True when they are in order. */
  readonly isOrdered: boolean;
  /** True with a `.git` among the names. */
  readonly isRepository: boolean;
  /** True with a `.gitignore` that whoever reads it would wait for. */
  readonly hasTrap: boolean;
}

/** Fewer are read as fast as they are found here. */
const WORTH_KEEPING = 500;
/** Of all folders together: some 5 MB. */
const MAX_NAMES = 50_000;
/** More take longer to put in order, at once, than another call should wait. */
const MAX_ORDERED = 12_000;

interface Kept {
  readonly times: string;
  readonly names: FolderNames;
}

/**
 * The names in large folders, for the next page of a listing and the next listing. A folder's time changes with each name that is
 * added, removed or put in another's place, so names that were read of a settled folder hold for as long as its times do.
 */
export class KeptNames {
  readonly #now: () => number;
  /** The one used last comes last. */
  readonly #kept = new Map<string, Kept>();
  #count = 0;

  /** `now`: milliseconds since the epoch, as the times of files are. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What was read of the folder with these facts, in order when it is not huge; undefined when it may have changed since. */
  of(stats: Stats): FolderNames | undefined {
    const key = keyOf(stats);
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#drop(key);
    if (kept.times !== timesOf(stats)) return undefined;
    const { names } = kept;
    // Whoever comes back once will again: then it is worth it to put all of them in order.
    const found = names.isOrdered || names.entries.length > MAX_ORDERED ? names : inOrder(names);
    this.#put(key, { ...kept, names: found });
    return found;
  }

  /** True when what is read from now on can be kept by the facts of the folder, which were seen before. */
  isSettled(stats: Stats): boolean {
    return isSettled(stats, this.#now());
  }

  /** Keeps what was read of a settled folder. */
  keep(stats: Stats, names: FolderNames): void {
    const count = names.entries.length;
    if (count < WORTH_KEEPING || count > MAX_NAMES) return;
    this.#drop(keyOf(stats));
    this.#put(keyOf(stats), { times: timesOf(stats), names });
    for (const key of this.#kept.keys()) {
      if (this.#count <= MAX_NAMES) break;
      this.#drop(key);
    }
  }

  #put(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#count += kept.names.entries.length;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#count -= kept.names.entries.length;
  }
}

function inOrder(names: FolderNames): FolderNames {
  return { ...names, entries: namesInOrder(names.entries), isOrdered: true };
}

function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function timesOf({ mtimeMs, ctimeMs, size }: Stats): string {
  return `${mtimeMs}:${ctimeMs}:${size}`;
}
