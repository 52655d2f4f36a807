import type { Stats } from 'node:fs';
import { isOlderThanTick } from '../../base/mtime-tick.js';
import type { WalkEntry } from './walk-entry.js';

/** Fewer are read as fast as they are found here. */
const MIN_NAMES = 500;
/** Of all folders together: some 5 MB. */
const MAX_NAMES = 50_000;

/** The names in one folder. */
export interface FolderNames {
  /** In order, without `.git`. */
  readonly entries: readonly WalkEntry[];
  /** True with a `.git`. */
  readonly hasGit: boolean;
  /** True with a `.gitignore` that is a named pipe or a device: a program that reads it waits. */
  readonly hasPipe: boolean;
}

interface Cached {
  readonly times: string;
  readonly names: FolderNames;
}

/**
 * The names in large folders, for the next page of a listing and the next listing. A folder's time changes with each name that is
 * added, removed or replaced, so the names in a settled folder are valid for as long as its times are the same.
 */
export class CachedNames {
  readonly #now: () => number;
  /** The one used last comes last. */
  readonly #cached = new Map<string, Cached>();
  #count = 0;

  /** `now`: milliseconds since the epoch, as the times of files are. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What was read of the folder with these facts; undefined when it may have changed since. */
  of(stats: Stats): FolderNames | undefined {
    const key = keyOf(stats);
    const cached = this.#cached.get(key);
    if (cached === undefined) return undefined;
    this.#evict(key);
    if (cached.times !== timesOf(stats)) return undefined;
    this.#put(key, cached);
    return cached.names;
  }

  /** True when names that are read from now on can be cached by the facts of the folder, which were read before. */
  isSettled(stats: Stats): boolean {
    return isOlderThanTick(stats, this.#now());
  }

  /** Caches what was read of a settled folder. */
  keep(stats: Stats, names: FolderNames): void {
    const count = names.entries.length;
    if (count < MIN_NAMES || count > MAX_NAMES) return;
    this.#evict(keyOf(stats));
    this.#put(keyOf(stats), { times: timesOf(stats), names });
    for (const key of this.#cached.keys()) {
      if (this.#count <= MAX_NAMES) break;
      this.#evict(key);
    }
  }

  #put(key: string, cached: Cached): void {
    this.#cached.set(key, cached);
    this.#count += cached.names.entries.length;
  }

  #evict(key: string): void {
    const cached = this.#cached.get(key);
    if (cached === undefined) return;
    this.#cached.delete(key);
    this.#count -= cached.names.entries.length;
  }
}

function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function timesOf({ mtimeMs, ctimeMs, size }: Stats): string {
  return `${mtimeMs}:${ctimeMs}:${size}`;
}
