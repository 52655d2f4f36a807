// Pure.
import { Emitter, type Event } from '../../../src/base/lifecycle.js';
import { MAX_KEPT_CHARS } from '../../../src/editor/protocol.js';

/** Small pieces are put together up to this size, so that dropping the oldest costs little. */
const PIECE_CHARS = 16 * 1024;

export interface ReadPiece {
  readonly text: string;
  readonly from: number;
  readonly cursor: number;
  readonly dropped: number;
}

/** The newest output of a terminal. A cursor counts the characters since its beginning. */
export class OutputBuffer {
  readonly #appended = new Emitter<void>();
  readonly onAppend: Event<void> = this.#appended.event;
  readonly #pieces: string[] = [];
  readonly #maxChars: number;
  #start = 0;
  #end = 0;

  constructor(maxChars = MAX_KEPT_CHARS) {
    this.#maxChars = maxChars;
  }

  /** The cursor after all of it. */
  get end(): number {
    return this.#end;
  }

  append(text: string): void {
    if (text === '') return;
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.length < PIECE_CHARS) this.#pieces[this.#pieces.length - 1] = last + text;
    else this.#pieces.push(text);
    this.#end += text.length;
    this.#dropOldest();
    this.#appended.fire();
  }

  /** At most `maxChars` characters after `cursor`; a pair of surrogates is not cut. */
  read(cursor: number, maxChars: number): ReadPiece {
    const from = Math.min(Math.max(cursor, this.#start), this.#end);
    const text = this.#slice(from, Math.min(this.#end, from + maxChars));
    const whole = maxChars > 1 && from + text.length < this.#end ? withoutHalf(text) : text;
    return { text: whole, from, cursor: from + whole.length, dropped: Math.max(0, from - cursor) };
  }

  /** The newest `maxChars` of what is between two cursors, and how many before them were left out. */
  tail(from: number, to: number, maxChars: number): { readonly text: string; readonly omitted: number } {
    const start = Math.max(from, this.#start, to - maxChars);
    const text = this.#slice(start, to);
    const whole = start > from && isLowSurrogate(text.charCodeAt(0)) ? text.slice(1) : text;
    return { text: whole, omitted: to - from - whole.length };
  }

  #slice(from: number, to: number): string {
    const parts: string[] = [];
    let position = this.#start;
    for (const piece of this.#pieces) {
      if (position >= to) break;
      if (position + piece.length > from)
        parts.push(piece.slice(Math.max(0, from - position), Math.max(0, to - position)));
      position += piece.length;
    }
    return parts.join('');
  }

  #dropOldest(): void {
    let surplus = this.#end - this.#start - this.#maxChars;
    while (surplus > 0) {
      const first = this.#pieces[0] ?? '';
      const gone = Math.min(surplus, first.length);
      if (gone === first.length) this.#pieces.shift();
      else this.#pieces[0] = first.slice(gone);
      this.#start += gone;
      surplus -= gone;
    }
  }
}

function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
