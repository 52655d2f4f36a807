// Pure.
import { StringDecoder } from 'node:string_decoder';

/** The CLI's largest lines hold a file it has read; a longer line is not from the CLI, or not worth the memory. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

export interface LineReaderListener {
  /** A whole line that begins with `{`, without its newline. */
  onObjectLine(line: string): void;
  /** Any other text as it arrives, with its newlines: a program that is not the CLI may never end its line. */
  onText(text: string): void;
  /** A line that began with `{` was longer than the bound and was dropped. */
  onOverlongLine(chars: number): void;
}

/** Splits a byte stream into lines that may be JSON objects, and other text. Handles UTF-8 that is split between chunks. */
export class LineReader {
  readonly #listener: LineReaderListener;
  readonly #decoder = new StringDecoder('utf8');
  readonly #pieces: string[] = [];
  #pendingChars = 0;
  #state: 'line-start' | 'object' | 'text' = 'line-start';

  constructor(listener: LineReaderListener) {
    this.#listener = listener;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.write(chunk));
  }

  /** The stream has ended: the pending text counts as a line. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#state === 'object') this.#endObject();
  }

  #take(text: string): void {
    let from = 0;
    while (from < text.length) {
      if (this.#state === 'line-start') this.#state = text.charAt(from) === '{' ? 'object' : 'text';
      const newline = text.indexOf('\n', from);
      const end = newline === -1 ? text.length : newline;
      if (this.#state === 'object') {
        this.#collect(text.slice(from, end));
        if (newline !== -1) this.#endObject();
      } else {
        this.#listener.onText(text.slice(from, newline === -1 ? end : end + 1));
      }
      if (newline !== -1) this.#state = 'line-start';
      from = end + 1;
    }
  }

  #collect(piece: string): void {
    this.#pendingChars += piece.length;
    if (this.#pendingChars <= MAX_LINE_CHARS) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  #endObject(): void {
    const chars = this.#pendingChars;
    const line = this.#pieces.join('');
    this.#pieces.length = 0;
    this.#pendingChars = 0;
    this.#state = 'line-start';
    if (chars > MAX_LINE_CHARS) this.#listener.onOverlongLine(chars);
    else this.#listener.onObjectLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}
