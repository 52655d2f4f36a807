import { readdirSync, statSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** The coarsest clock of a file system in use (FAT) ticks every 2 s; a change within one tick of the look does not move the time. */
const SETTLED_MS = 3_000;
/** A folder whose own size is below this has some hundred entries at most: read here and now sooner than by the thread pool. */
const SMALL_FOLDER_BYTES = 16_384;

/** The names of a folder's own folders, read again only when something was added or removed. */
export class FolderNames {
  readonly #path: string;
  readonly #now: () => number;
  #kept: { readonly stamp: string; readonly names: readonly string[] } | undefined;

  /** `now` is the clock that dates files, in ms. */
  constructor(path: string, now: () => number = Date.now) {
    this.#path = path;
    this.#now = now;
  }

  /** In no order. Throws what the system throws; a folder that is not there has none. */
  async list(): Promise<readonly string[]> {
    const stamp = this.#stamp();
    if (stamp === undefined) return [];
    if (this.#kept?.stamp === stamp.words) return this.#kept.names;
    const entries = await this.#entries(stamp.isSmall);
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    this.#kept = stamp.settled ? { stamp: stamp.words, names } : undefined;
    return names;
  }

  async #entries(isSmall: boolean): Promise<readonly Dirent[]> {
    if (isSmall) return readdirSync(this.#path, { withFileTypes: true });
    return readdir(this.#path, { withFileTypes: true });
  }

  /** Asked of the system here and now: a fiftieth of what a trip through the thread pool takes. */
  #stamp(): { readonly words: string; readonly settled: boolean; readonly isSmall: boolean } | undefined {
    const stats: Stats | undefined = statSync(this.#path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const { dev, ino, mtimeMs, ctimeMs, size } = stats;
    return {
      words: [dev, ino, mtimeMs, ctimeMs].join(' '),
      settled: Math.abs(this.#now() - Math.max(mtimeMs, ctimeMs)) > SETTLED_MS,
      isSmall: size < SMALL_FOLDER_BYTES,
    };
  }
}
