import { z } from 'zod';
import { cursorText, invalidCursor, readCursor } from '../../base/cursor.js';
import { compareText } from '../list/list-order.js';
import { ByteBudget } from '../list/list-budget.js';
import type { TextMatch } from './search-text.js';

export interface FoundMatch extends Partial<TextMatch> {
  readonly path: string;
}

export interface SearchPage {
  readonly matches: FoundMatch[];
  readonly note?: string;
  readonly cursor?: string;
}

const positionSchema = z.strictObject({
  p: z.string().min(1),
  l: z.int().min(0),
  /** True in a search for names. */
  n: z.literal(true).optional(),
});
/** The last file and line on earlier pages. */
export type SearchPosition = z.infer<typeof positionSchema>;

/** Stands for the line of a file that was searched completely. */
const WHOLE_FILE = Number.MAX_SAFE_INTEGER;

/** True when a file may have matches after the position. */
export function isAfter(path: string, after: SearchPosition | undefined): boolean {
  if (after === undefined) return true;
  return path === after.p ? after.l < WHOLE_FILE : compareText(path, after.p) > 0;
}

/** Throws INVALID_ARGUMENTS, also for a cursor of the other kind of search. */
export function searchPositionOf(cursor: string | undefined, names: boolean): SearchPosition | undefined {
  if (cursor === undefined) return undefined;
  const position = readCursor(positionSchema, cursor);
  if ((position.n ?? false) !== names) throw invalidCursor();
  return position;
}

/** Collects matches in order until the page is full. */
export class SearchPageBuilder {
  readonly #matches: FoundMatch[] = [];
  readonly #budget: ByteBudget;
  readonly #after: SearchPosition | undefined;
  readonly #kind: Pick<SearchPosition, 'n'>;
  #last: SearchPosition | undefined;

  constructor(bytes: number, after: SearchPosition | undefined, names: boolean) {
    this.#budget = new ByteBudget(bytes);
    this.#kind = names ? { n: true } : {};
    this.#after = after;
    this.#last = after;
  }

  /** True when the cursor of this page would differ from the previous one. */
  get hasMoved(): boolean {
    return this.#last !== this.#after;
  }

  /** Returns false when the match does not fit any more. */
  take(match: FoundMatch): boolean {
    if (!this.#budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1)) return false;
    this.#matches.push(match);
    this.#last = { p: match.path, l: match.line ?? 1 };
    return true;
  }

  /** Records that all matches up to this line were passed to `take`. */
  passed(path: string, line: number = WHOLE_FILE): void {
    this.#last = { p: path, l: line };
  }

  /** The page when there are no more matches. */
  whole(note?: string): SearchPage {
    return { matches: this.#matches, ...(note !== undefined && { note }) };
  }

  /** The page when there may be more. */
  cut(note?: string): SearchPage {
    const last = this.#last && { ...this.#last, ...this.#kind };
    return { ...this.whole(note), ...(last !== undefined && { cursor: cursorText(last) }) };
  }
}
