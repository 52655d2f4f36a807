import { compareNames } from './list-order.js';
import type { ListPosition } from './list-cursor.js';
import type { WalkEntry } from './walk-entry.js';
import type { FolderWalk, WalkedFolder } from './walk-folder.js';

/** Folders read before they are needed: their reading overlaps, and a descriptor each is open. */
const READ_AHEAD = 8;
/** Entries between two looks at the clock: most are had from memory. */
const CLOCK_STEP = 16;

/** An entry in its place in the tree. */
export interface ListedEntry {
  readonly entry: WalkEntry;
  readonly parent: WalkedFolder;
  /** Its place in the order of its folder. */
  readonly index: number;
  /** The folders on the way to it. */
  readonly folders: readonly string[];
  /** For each of them: true for the last one in its folder. */
  readonly lasts: readonly boolean[];
  /** The same of the entry. */
  readonly isLast: boolean;
  /** Of a folder that was read: why nothing below it is shown. */
  readonly note: string | undefined;
}

export interface PageOptions {
  readonly walk: FolderWalk;
  readonly depth: number;
  readonly after: ListPosition | undefined;
  /** Entries that probably fit. */
  readonly expected: number;
  /** False when the entry does not fit any more. */
  readonly take: (entry: ListedEntry) => boolean;
}

export interface PageEnd {
  /** The last entry that was taken, when others follow. */
  readonly last: ListPosition | undefined;
  /** Entries that follow in the folders that were read; what lies in unread folders is not counted. */
  readonly more: number;
  /** Why the first folder has no entries. */
  readonly note: string | undefined;
}

/** Goes through a tree in order, a folder before what is in it, until `take` has enough; reads no more folders than needed. */
export async function listPage(options: PageOptions): Promise<PageEnd> {
  const page = new Page(options);
  const top = await options.walk.first();
  const isWhole = await page.folder(top, [], [], options.after);
  return { last: isWhole ? undefined : page.last, more: page.more, note: top.note };
}

class Page {
  more = 0;
  readonly #options: PageOptions;
  #last: ListedEntry | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** The entry that was taken last. */
  get last(): ListPosition | undefined {
    if (this.#last === undefined) return this.#options.after;
    const { folders, entry } = this.#last;
    return { segments: [...folders, entry.name], isFolder: entry.isFolder };
  }

  /** False when `take` has enough. */
  async folder(
    folder: WalkedFolder,
    folders: readonly string[],
    lasts: readonly boolean[],
    after: ListPosition | undefined,
  ): Promise<boolean> {
    const { walk, depth, take, expected } = this.#options;
    folder.entries.expect(expected);
    const first = after === undefined ? 0 : folder.entries.startFrom(stepOf(after));
    const ahead = new ReadAhead(walk, folder, folders.length + 1 < depth);
    try {
      for (let index = first; index < folder.entries.length; index++) {
        const entry = folder.entries.at(index);
        if (entry === undefined) break;
        if (index % CLOCK_STEP === 0 && walk.pause.isDue()) await walk.pause.wait();
        const isLast = index === folder.entries.length - 1;
        const way = index === first && after !== undefined ? wayTo(entry, after) : 'beyond';
        const below = entry.isFolder ? await ahead.folderAt(index) : undefined;
        if (way === 'beyond') {
          const listed = { entry, parent: folder, index, folders, lasts, isLast, note: below?.note };
          if (!take(listed)) {
            this.more += folder.entries.length - index;
            return false;
          }
          this.#last = listed;
        }
        if (below === undefined) continue;
        const rest =
          way === 'through' && after !== undefined
            ? { segments: after.segments.slice(1), isFolder: after.isFolder }
            : undefined;
        if (!(await this.folder(below, [...folders, entry.name], [...lasts, isLast], rest))) {
          this.more += folder.entries.length - index - 1;
          return false;
        }
        walk.close(below);
      }
      return true;
    } finally {
      await ahead.close();
    }
  }
}

/** Reads the next subfolders of a folder while the present one is gone through. */
class ReadAhead {
  readonly #walk: FolderWalk;
  readonly #folder: WalkedFolder;
  readonly #isDeep: boolean;
  readonly #reading = new Map<number, Promise<WalkedFolder>>();

  constructor(walk: FolderWalk, folder: WalkedFolder, isDeep: boolean) {
    this.#walk = walk;
    this.#folder = folder;
    this.#isDeep = isDeep;
  }

  /** The folder at `index` among the entries; undefined for what is none, or lies too deep. */
  async folderAt(index: number): Promise<WalkedFolder | undefined> {
    if (!this.#isDeep || this.#folder.entries.at(index)?.isFolder !== true) return undefined;
    for (let next = index; next < index + READ_AHEAD; next++) {
      const entry = this.#folder.entries.at(next);
      if (entry?.isFolder !== true || this.#reading.has(next)) continue;
      const reading = this.#walk.below(this.#folder, entry.name);
      // Told when it is awaited; it may not be, when the page is full.
      reading.catch(() => undefined);
      this.#reading.set(next, reading);
    }
    const folder = await this.#reading.get(index);
    this.#reading.set(index, Promise.resolve(this.#folder));
    return folder;
  }

  /** Lets what was read in vain end; the walk closes it. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#reading.values());
  }
}

/** `beyond` the position; or the entry shown last (`shown`), or a folder on the way to it (`through`). */
function wayTo(entry: WalkEntry, after: ListPosition): 'beyond' | 'shown' | 'through' {
  if (compareNames(entry, stepOf(after)) !== 0) return 'beyond';
  return after.segments.length > 1 ? 'through' : 'shown';
}

function stepOf(position: ListPosition): { readonly name: string; readonly isFolder: boolean } {
  return { name: position.segments[0] ?? '', isFolder: position.segments.length > 1 || position.isFolder };
}
