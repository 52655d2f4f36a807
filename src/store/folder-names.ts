import { readdirSync, statSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** FAT has the coarsest clock, with a tick of 2 s; a change within the same tick as the read does not change the time. */
const MTIME_TICK_MS = 3_000;
/** A folder whose own size is below this has at most some hundred entries, which are read faster synchronously than by the thread pool. */
const SMALL_FOLDER_BYTES = 16_384;

/** The names of the folders in a folder, cached until one is added or removed. */
export class FolderNames {
  readonly #path: string;
  readonly #now: () => number;
  #cached: { readonly stamp: string; readonly names: readonly string[] } | undefined;

  /** `now` is the clock that dates files, in ms. */
  constructor(path: string, now: () => number = Date.now) {
    this.#path = path;
    this.#now = now;
  }

  /** Unordered; empty for a missing folder. Throws the system's error. */
  async list(): Promise<readonly string[]> {
    const stamp = this.#stamp();
    if (stamp === undefined) return [];
    if (this.#cached?.stamp === stamp.text) return this.#cached.names;
    const entries = await this.#entries(stamp.isSmall);
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    this.#cached = stamp.isOlderThanTick ? { stamp: stamp.text, names } : undefined;
    return names;
  }

  async #entries(isSmall: boolean): Promise<readonly Dirent[]> {
    if (isSmall) return readdirSync(this.#path, { withFileTypes: true });
    return readdir(this.#path, { withFileTypes: true });
  }

  /** Synchronous: this takes a fiftieth of a trip through the thread pool. */
  #stamp():
    { readonly text: string; readonly isOlderThanTick: boolean; readonly isSmall: boolean } | undefined {
    const stats: Stats | undefined = statSync(this.#path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const { dev, ino, mtimeMs, ctimeMs, size } = stats;
    return {
      text: [dev, ino, mtimeMs, ctimeMs].join(' '),
      isOlderThanTick: Math.abs(this.#now() - Math.max(mtimeMs, ctimeMs)) > MTIME_TICK_MS,
      isSmall: size < SMALL_FOLDER_BYTES,
    };
  }
}
