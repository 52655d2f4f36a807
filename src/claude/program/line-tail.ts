const TAIL_CHARS = 4_000;
/** That many characters take at most so many bytes, and one before them may be cut. */
const TAIL_BYTES = 3 * (TAIL_CHARS + 1);

/** The newest characters of the lines that a program printed; those of a flood become text when somebody asks. */
export class LineTail {
  #text = '';
  /** Of a flood; made for the first one. */
  #bytes: Buffer | undefined;
  #isInBytes = false;

  get text(): string {
    if (this.#isInBytes) this.#text = this.#bytes?.toString('utf8').slice(-TAIL_CHARS) ?? '';
    this.#isInBytes = false;
    return this.#text;
  }

  /** One or more lines, without the last one's end. */
  add(lines: string): void {
    this.#text =
      lines.length >= TAIL_CHARS
        ? `${lines.slice(1 - TAIL_CHARS)}\n`
        : `${this.text}${lines}\n`.slice(-TAIL_CHARS);
    this.#isInBytes = false;
  }

  /** Lines with their ends. */
  addBytes(lines: Buffer): void {
    if (lines.length < TAIL_BYTES) return this.add(lines.toString('utf8', 0, lines.length - 1));
    this.#bytes ??= Buffer.allocUnsafeSlow(TAIL_BYTES);
    lines.copy(this.#bytes, 0, lines.length - TAIL_BYTES);
    this.#isInBytes = true;
  }
}
