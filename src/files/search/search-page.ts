import { z } from 'zod';
import { cursorText, readCursor } from '../../base/cursor.js';
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

const positionSchema = z.strictObject({ p: z.string().min(1), l: z.int().min(0) });
/** The last line of a file that earlier pages hold. */
export type SearchPosition = z.infer<typeof positionSchema>;

/** The line of a file that was searched to its end. */
const WHOLE_FILE = Number.MAX_SAFE_INTEGER;

/** Whether a file may have matches behind the position. */
export function isBehind(path: string, after: SearchPosition | undefined): boolean {
  if (after === undefined) return true;
  return path === after.p ? after.l < WHOLE_FILE : compareText(path, after.p) > 0;
}

/** Throws INVALID_ARGUMENTS. */
export function searchPositionOf(cursor: string | undefined): SearchPosition | undefined {
  return cursor === undefined ? undefined : readCursor(positionSchema, cursor);
}

/** Takes matches in order until the page is full. */
export class SearchPageBuilder {
  readonly #matches: FoundMatch[] = [];
  readonly #budget: ByteBudget;
  readonly #after: SearchPosition | undefined;
  #last: SearchPosition | undefined;

  constructor(bytes: number, after: SearchPosition | undefined) {
    this.#budget = new ByteBudget(bytes);
    this.#after = after;
    this.#last = after;
  }

  /** True when its cursor would be another one than that of the page before. */
  get hasMoved(): boolean {
    return this.#last !== this.#after;
  }

  get isEmpty(): boolean {
    return this.#matches.length === 0;
  }

  /** False when the match does not fit any more. */
  take(match: FoundMatch): boolean {
    if (!this.#budget.spend(Buffer.byteLength(JSON.stringify(match)) + 1)) return false;
    this.#matches.push(match);
    this.#last = { p: match.path, l: match.line ?? 1 };
    return true;
  }

  /** All matches up to this line were offered. */
  passed(path: string, line: number = WHOLE_FILE): void {
    this.#last = { p: path, l: line };
  }

  /** The page when there are no more matches. */
  whole(note?: string): SearchPage {
    return { matches: this.#matches, ...(note !== undefined && { note }) };
  }

  /** The page when there may be more. */
  cut(note?: string): SearchPage {
    return { ...this.whole(note), ...(this.#last !== undefined && { cursor: cursorText(this.#last) }) };
  }
}
