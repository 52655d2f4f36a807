// Pure.
/** One line of input, or the length of one that was too long to hold. */
export type Line =
  { readonly kind: 'line'; readonly text: string } | { readonly kind: 'too-long'; readonly bytes: number };

const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines, and holds none over the limit. */
export class LineFramer {
  readonly #maxBytes: number;
  readonly #onLine: (line: Line) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: Line) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#take(rest.subarray(0, end));
      this.#finish();
      rest = rest.subarray(end + 1);
    }
    this.#take(rest);
  }

  /** The input has ended: a last line without its newline counts. */
  end(): void {
    if (this.#bytes > 0) this.#finish();
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #finish(): void {
    const bytes = this.#bytes;
    const text = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    this.#onLine(bytes > this.#maxBytes ? { kind: 'too-long', bytes } : { kind: 'line', text });
  }
}
