import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';
import { cursorText, readCursor } from '../base/input.js';
import { oneLine } from '../base/text.js';
import {
  compareNames,
  type EntryType,
  type FolderWalk,
  type OrderedName,
  type WalkEntry,
  type WalkedFolder,
} from './folder-walk.js';

/** Entries between two checks of the clock. */
const CLOCK_STEP = 16;
const SHOWN_TARGET_CHARS = 200;
/** A name has at most 255 bytes, but escaped control characters are longer. */
const SHOWN_NAME_CHARS = 400;

const positionSchema = z.strictObject({ p: z.array(z.string().min(1)).min(1), d: z.boolean() });
/** The entry after which a listing continues: its path, and whether it is a folder. */
export type ListPosition = z.infer<typeof positionSchema>;

/** Throws INVALID_ARGUMENTS for a text that is no cursor of a listing. */
export function listPositionOf(cursor: string): ListPosition {
  return readCursor(positionSchema, cursor);
}

/** An entry of a folder in a listing. */
export interface ListedFile {
  /** Relative to the listed folder. */
  readonly name: string;
  readonly type: EntryType;
  /** Bytes; only for files. */
  readonly size?: number;
  /** Where a link points. */
  readonly target?: string;
  /** Why nothing below a folder is shown. */
  readonly note?: string;
}

/** An entry with its position in the tree. */
export interface ListedEntry {
  readonly entry: WalkEntry;
  readonly parent: WalkedFolder;
  /** For each folder above it, below the listed one: true for the last one in its folder. */
  readonly lasts: readonly boolean[];
  /** True when the entry itself is the last one in its folder. */
  readonly isLast: boolean;
  /** For a folder that was read: why nothing below it is shown. */
  readonly note: string | undefined;
}

/** Counts bytes. The first item always fits, so that every page makes progress. */
export class ByteBudget {
  #left: number;
  #isFirst = true;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** False when the item, as JSON, does not fit any more. */
  spend(item: unknown): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > this.#left && !this.#isFirst) return false;
    this.#isFirst = false;
    this.#left -= bytes;
    return true;
  }
}

/**
 * Walks a tree in order, a folder before its entries, from the entry behind `after` on, and reads no more folders than needed. `take`
 * returns false when an entry does not fit any more. Returns the cursor for the rest, undefined when there is none; the number of
 * entries that remain in the folders that were read; and why the first folder has no entries.
 */
export async function readListPage(
  walk: FolderWalk,
  { depth, after }: { readonly depth: number; readonly after: ListPosition | undefined },
  take: (entry: ListedEntry) => boolean,
) {
  let more = 0;
  let last = after;
  /** False when the page is full. */
  const readFolder = async (
    parent: WalkedFolder,
    lasts: readonly boolean[],
    from: ListPosition | undefined,
  ): Promise<boolean> => {
    const next = from && nextName(from);
    const left =
      next === undefined ? parent.entries : parent.entries.filter((one) => compareNames(one, next) >= 0);
    for (const [index, entry] of left.entries()) {
      if (index % CLOCK_STEP === 0) await walk.pause();
      const isLast = index === left.length - 1;
      const isEntered = entry.isFolder && lasts.length + 1 < depth;
      const below = isEntered ? await walk.below(parent, entry.name) : undefined;
      // The last entry of the previous page, or a folder above it.
      const wasShown = next !== undefined && compareNames(entry, next) === 0;
      if (!wasShown) {
        const listed = { entry, parent, lasts, isLast, note: below?.note };
        if (!take(listed)) {
          more += left.length - index;
          return false;
        }
        last = { p: nameOf(listed).split('/'), d: entry.isFolder };
      }
      if (below === undefined) continue;
      const rest =
        wasShown && from !== undefined && from.p.length > 1 ? { ...from, p: from.p.slice(1) } : undefined;
      if (!(await readFolder(below, [...lasts, isLast], rest))) {
        more += left.length - index - 1;
        return false;
      }
      walk.close(below);
    }
    return true;
  };
  const top = await walk.first();
  const isWhole = await readFolder(top, [], after);
  return { cursor: isWhole || last === undefined ? undefined : cursorText(last), more, note: top.note };
}

/** The first folder on the path to the entry, or the entry itself. */
function nextName({ p, d }: ListPosition): OrderedName {
  const [name = ''] = p;
  return { name, lower: name.toLowerCase(), isFolder: p.length > 1 || d };
}

/** Relative to the listed folder. */
function nameOf({ entry, parent }: ListedEntry): string {
  return parent.relative === '' ? entry.name : `${parent.relative}/${entry.name}`;
}

/** The name of a regular file, or of a folder with a slash; undefined for an entry that needs more than a name. */
export function plainName(listed: ListedEntry): string | undefined {
  const { entry, note } = listed;
  if (note !== undefined) return undefined;
  if (entry.type === 'file') return nameOf(listed);
  return entry.isFolder ? `${nameOf(listed)}/` : undefined;
}

/** Synchronous: the folder was just read, so the kernel answers from memory. */
export function listedFile(listed: ListedEntry): ListedFile {
  const { parent, entry, note } = listed;
  const { type } = entry;
  const facts = type === 'file' && unlessGone(() => lstatSync(join(parent.fdPath, entry.name)));
  const target = targetOf(listed);
  return {
    name: nameOf(listed),
    type,
    ...(target !== undefined && { target }),
    ...(note !== undefined && { note }),
    ...(facts && { size: facts.size }),
  };
}

/** One entry as a line of a tree: `│   ├── name`, a folder with `/`, a link with its target. */
export function treeLine(listed: ListedEntry): string {
  const { entry, lasts, note } = listed;
  const indent = lasts.map((isLast) => (isLast ? '    ' : '│   '));
  const branch = listed.isLast ? '└── ' : '├── ';
  const target = targetOf(listed);
  const end = entry.isFolder ? '/' : target === undefined ? '' : ` -> ${target}`;
  const name = oneLine(entry.name, SHOWN_NAME_CHARS);
  return `${indent.join('')}${branch}${name}${end}${note === undefined ? '' : ` [${note}]`}`;
}

/** Target of a link, on one line. */
function targetOf({ parent, entry }: ListedEntry): string | undefined {
  if (entry.type !== 'symlink') return undefined;
  return unlessGone(() => oneLine(readlinkSync(join(parent.fdPath, entry.name)), SHOWN_TARGET_CHARS));
}

/** Undefined for an entry that was removed meanwhile. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
