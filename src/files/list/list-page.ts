import type { ListPosition } from './list-cursor.js';
import { compareNames, type OrderedName } from './list-order.js';
import type { WalkEntry } from './walk-entry.js';
import type { FolderWalk, WalkedFolder } from './walk-folder.js';

/** Entries between two checks of the clock. */
const CLOCK_STEP = 16;

/** An entry with its position in the tree. */
export interface ListedEntry {
  readonly entry: WalkEntry;
  readonly parent: WalkedFolder;
  /** Names of the folders above it, below the listed one. */
  readonly folders: readonly string[];
  /** For each of them: true for the last one in its folder. */
  readonly lasts: readonly boolean[];
  /** True when the entry itself is the last one in its folder. */
  readonly isLast: boolean;
  /** For a folder that was read: why nothing below it is shown. */
  readonly note: string | undefined;
}

export interface PageOptions {
  readonly walk: FolderWalk;
  readonly depth: number;
  readonly after: ListPosition | undefined;
  /** Returns false when the entry does not fit any more. */
  readonly take: (entry: ListedEntry) => boolean;
}

export interface PageEnd {
  /** The last entry on the page, if others follow. */
  readonly last: ListPosition | undefined;
  /** Remaining entries in the folders that were read; those in unread folders are not counted. */
  readonly more: number;
  /** Why the first folder has no entries. */
  readonly note: string | undefined;
}

/** Walks a tree in order, a folder before its entries, until `take` returns false. Reads no more folders than needed. */
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

  /** The last entry on the page. */
  get last(): ListPosition | undefined {
    if (this.#last === undefined) return this.#options.after;
    const { folders, entry } = this.#last;
    return { segments: [...folders, entry.name], isFolder: entry.isFolder };
  }

  /** Returns false when the page is full. */
  async folder(
    parent: WalkedFolder,
    folders: readonly string[],
    lasts: readonly boolean[],
    after: ListPosition | undefined,
  ): Promise<boolean> {
    const { walk, depth, take } = this.#options;
    const { entries } = parent;
    const from = after === undefined ? undefined : nextName(after);
    const first = from === undefined ? 0 : entries.findIndex((entry) => compareNames(entry, from) >= 0);
    for (let index = first < 0 ? entries.length : first; index < entries.length; index++) {
      const entry = entries[index];
      if (entry === undefined) break;
      if (index % CLOCK_STEP === 0 && walk.pause.isDue()) await walk.pause.wait();
      const isLast = index === entries.length - 1;
      // The last entry of the previous page, or a folder above it.
      const wasShown = from !== undefined && compareNames(entry, from) === 0;
      const below =
        entry.isFolder && folders.length + 1 < depth ? await walk.below(parent, entry.name) : undefined;
      if (!wasShown) {
        const listed = { entry, parent, folders, lasts, isLast, note: below?.note };
        if (!take(listed)) {
          this.more += entries.length - index;
          return false;
        }
        this.#last = listed;
      }
      if (below === undefined) continue;
      const rest = wasShown && after !== undefined ? restOf(after) : undefined;
      if (!(await this.folder(below, [...folders, entry.name], [...lasts, isLast], rest))) {
        this.more += entries.length - index - 1;
        return false;
      }
      walk.close(below);
    }
    return true;
  }
}

/** The first folder on the path to the entry, or the entry itself. */
function nextName({ segments, isFolder }: ListPosition): OrderedName {
  const [name = ''] = segments;
  return { name, lower: name.toLowerCase(), isFolder: segments.length > 1 || isFolder };
}

function restOf({ segments, isFolder }: ListPosition): ListPosition | undefined {
  return segments.length > 1 ? { segments: segments.slice(1), isFolder } : undefined;
}
