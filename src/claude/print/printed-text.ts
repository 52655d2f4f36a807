// Pure: what a program prints to its pipes, in lines and in bounded memory.
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { tailChars } from '../../base/text.js';

/** The CLI's largest lines hold a file it has read; a longer line is not from the CLI, or not worth the memory. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Ten times what a status shows, and several screens; the log has the rest. */
const MAX_TAIL_CHARS = 64 * 1024;

/** Splits a byte stream into lines. Handles UTF-8 that is split between chunks. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onOverlong: (chars: number) => void;
  readonly #decoder = new StringDecoder('utf8');
  #pieces: string[] = [];
  #chars = 0;

  /** `onLine` gets whole lines, without their newline; `onOverlong` the length of a line that was over the bound, and was dropped. */
  constructor(onLine: (line: string) => void, onOverlong: (chars: number) => void) {
    this.#onLine = onLine;
    this.#onOverlong = onOverlong;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.write(chunk));
  }

  /** The stream has ended: the pending text counts as a line. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#chars > 0) this.#endLine();
  }

  #take(text: string): void {
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) this.#endLine();
      this.#chars += piece.length;
      if (this.#chars <= MAX_LINE_CHARS) this.#pieces.push(piece);
      else this.#pieces = [];
    }
  }

  #endLine(): void {
    const line = this.#pieces.join('');
    const chars = this.#chars;
    this.#pieces = [];
    this.#chars = 0;
    if (chars > MAX_LINE_CHARS) this.#onOverlong(chars);
    else this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}

/** The last readable text of a program. */
export class TextTail {
  #text = '';
  /** Where the newest turn begins in the text. */
  #turnAt = 0;

  /** What was before stays on the screen, and is no output of the turn that begins. */
  beginTurn(): void {
    this.#turnAt = this.#text.length;
  }

  append(text: string): void {
    this.#text += text;
    // Cut at twice the bound, so that a burst of small pieces does not copy the text for each.
    if (this.#text.length <= 2 * MAX_TAIL_CHARS) return;
    const kept = tailChars(this.#text, MAX_TAIL_CHARS);
    this.#turnAt = Math.max(0, this.#turnAt - (this.#text.length - kept.length));
    this.#text = kept;
  }

  /** The last `maxChars` characters of the newest turn, trimmed and without escape codes. */
  read(maxChars: number): string {
    return readable(this.#text.slice(this.#turnAt), maxChars);
  }

  /** The last `rows` lines. */
  lastLines(rows: number): string {
    return readable(this.#text, MAX_TAIL_CHARS).split('\n').slice(-rows).join('\n');
  }
}

function readable(text: string, maxChars: number): string {
  return tailChars(stripVTControlCharacters(tailChars(text, MAX_TAIL_CHARS)).trim(), maxChars);
}
