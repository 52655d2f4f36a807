import { z } from 'zod';
import { cursorText, invalidCursor, readCursor } from '../../base/input.js';
import { ByteBudget } from '../list/list-budget.js';

export interface FoundMatch {
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  /** Column of the first match in the line, from 1, in UTF-16 units. */
  readonly column?: number;
  readonly text?: string;
  readonly before?: string[];
  readonly after?: string[];
}

export interface SearchPage {
  readonly matches: FoundMatch[];
  readonly note?: string;
  readonly cursor?: string;
}

const positionSchema = z.strictObject({
  p: z.string().min(1),
  /** Undefined in a search for names. */
  l: z.int().min(1).optional(),
});
/** The last file and line on earlier pages. */
export type SearchPosition = z.infer<typeof positionSchema>;

/** A text whose order is that of `rg --sort path`: by the bytes of each name, folder by folder. */
export function orderKey(path: string): string {
  return Buffer.from(path.replaceAll('/', '\0')).toString('latin1');
}

/** Throws INVALID_ARGUMENTS, also for a cursor of the other kind of search. */
export function searchPositionOf(cursor: string | undefined, names: boolean): SearchPosition | undefined {
  if (cursor === undefined) return undefined;
  const position = readCursor(positionSchema, cursor);
  if ((position.l === undefined) !== names) throw invalidCursor();
  return position;
}

/** Collects matches in order until the page is full. */
export class SearchPageBuilder {
  readonly #matches: FoundMatch[] = [];
  readonly #budget: ByteBudget;
  /** True when a match did not fit any more. */
  isFull = false;

  constructor(bytes: number) {
    this.#budget = new ByteBudget(bytes);
  }

  /** Adds the match if it fits and no earlier one was left out. */
  take(match: FoundMatch): void {
    this.isFull ||= !this.#budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1);
    if (!this.isFull) this.#matches.push(match);
  }

  /** The page, with a cursor when a match did not fit. */
  page(note: string | undefined): SearchPage {
    const last = this.#matches.at(-1);
    const position: SearchPosition | undefined = last && { p: last.path, l: last.line };
    return {
      matches: this.#matches,
      ...(note !== undefined && { note }),
      ...(this.isFull && position !== undefined && { cursor: cursorText(position) }),
    };
  }
}
