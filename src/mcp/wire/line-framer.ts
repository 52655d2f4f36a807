// Pure.
/** One line of input, or what is known of one that was too long to keep. */
export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too-long'; readonly bytes: number; readonly head: string; readonly tail: string };

/** Enough of either end to find a message's id, wherever its writer puts it. */
const EDGE_BYTES = 4_096;
const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines; of a line over the limit it keeps the two ends alone. */
export class LineFramer {
  readonly #maxBytes: number;
  readonly #onLine: (line: Line) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head = '';
  #tail = Buffer.alloc(0);
  #skipping = false;

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
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#skipping) return this.#keepTail(part);
    this.#parts.push(part);
    if (this.#bytes > this.#maxBytes) this.#startSkipping();
  }

  #startSkipping(): void {
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#skipping = true;
    this.#head = whole.toString('utf8', 0, EDGE_BYTES);
    this.#keepTail(whole);
  }

  #keepTail(part: Buffer): void {
    // A copy, so that the chunk it is cut from can go.
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES));
  }

  #finish(): void {
    const line: Line = this.#skipping
      ? { kind: 'too-long', bytes: this.#bytes, head: this.#head, tail: this.#tail.toString('utf8') }
      : { kind: 'line', text: Buffer.concat(this.#parts).toString('utf8') };
    this.#parts = [];
    this.#bytes = 0;
    this.#head = '';
    this.#tail = Buffer.alloc(0);
    this.#skipping = false;
    this.#onLine(line);
  }
}
