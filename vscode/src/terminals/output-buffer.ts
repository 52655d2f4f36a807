// Pure.
import { Emitter, type Event } from '../../../src/base/lifecycle.js';
import { MAX_KEPT_CHARS } from '../../../src/editor/protocol.js';

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
  readonly #maxChars: number;
  /** Up to twice as much as is read: dropping the oldest copies the rest. */
  #text = '';
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
    this.#text += text;
    if (this.#text.length > 2 * this.#maxChars) this.#text = this.#text.slice(-this.#maxChars);
    this.#end += text.length;
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

  /** Of the oldest character that can be read. */
  get #start(): number {
    return Math.max(0, this.#end - this.#maxChars);
  }

  #slice(from: number, to: number): string {
    const before = this.#end - this.#text.length;
    return this.#text.slice(from - before, to - before);
  }
}

function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
