import type { Stats } from 'node:fs';
import { isOlderThanTick } from '../../base/mtime-tick.js';
import type { WalkEntry } from './walk-entry.js';

/** A smaller folder is not cached, since reading it is as fast. */
const MIN_NAMES = 500;
/** Limit for all folders together, about 5 MB. */
const MAX_NAMES = 50_000;

/** The names in one folder. */
export interface FolderNames {
  /** Sorted, without `.git`. */
  readonly entries: readonly WalkEntry[];
  /** True when the folder contains `.git`. */
  readonly hasGit: boolean;
  /** True when `.gitignore` is a named pipe or a device, on which a reader could block. */
  readonly hasPipe: boolean;
}

interface Cached {
  readonly times: string;
  readonly names: FolderNames;
}

/**
 * Caches the names in large folders, for further pages and listings. Adding, removing or replacing a name changes the folder's
 * times, so the names are valid while the times stay the same, unless they were read within one clock tick of a change.
 */
export class CachedNames {
  readonly #now: () => number;
  /** In order of use, the latest last. */
  readonly #cached = new Map<string, Cached>();
  #count = 0;

  /** `now` returns milliseconds since the epoch, like the times of files. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The cached names of the folder with these stats; undefined when it may have changed. */
  get(stats: Stats): FolderNames | undefined {
    const key = keyOf(stats);
    const cached = this.#cached.get(key);
    if (cached === undefined) return undefined;
    this.#evict(key);
    if (cached.times !== timesOf(stats)) return undefined;
    this.#put(key, cached);
    return cached.names;
  }

  /** True when the last change of the folder is old enough to cache names that are read after `stats`. */
  canCache(stats: Stats): boolean {
    return isOlderThanTick(stats, this.#now());
  }

  /** Caches names if `canCache` was true before they were read. */
  set(stats: Stats, names: FolderNames): void {
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
