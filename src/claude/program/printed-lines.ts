import { StringDecoder } from 'node:string_decoder';

/** A line without an end is reported in pieces of this size, so that it never grows without bound. */
const MAX_OPEN_CHARS = 64 * 1024;
/** How much of the newest lines is kept. */
const TAIL_CHARS = 4_000;
/** Colours and titles change how text looks, not where it stands. */
const harmlessSequence = /\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
/** ESC, backspace, vertical tab and form feed: what a stream of plain lines does not hold. */
const movingCharacter = /[\x1b\x08\x0b\x0c]/;

/**
 * The readable lines of a program. As long as it prints plain lines they are taken from its output as they are; once it moves
 * the cursor they are taken from the screen, as a person would have read them.
 */
export class PrintedLines {
  readonly #onText: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #isPlain = true;
  /** The line that has no end yet. */
  #open = '';
  #tail = '';

  /** `onText` gets one or more whole lines, joined by newlines, without the last one's end. */
  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** Every line so far was taken from the output itself. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  /** Output that the screen is about to show: lines that it scrolls off come afterwards. */
  bytes(bytes: Buffer): void {
    if (!this.#isPlain) return;
    const piece = this.#decoder.write(bytes);
    const end = piece.lastIndexOf('\n');
    if (end !== -1) {
      const whole = this.#open + piece.slice(0, end);
      this.#open = piece.slice(end + 1);
      this.#plain(whole);
    } else if ((this.#open += piece).length > MAX_OPEN_CHARS) {
      const part = this.#open;
      this.#open = '';
      this.#plain(part);
    }
  }

  scrolledOff(lines: readonly string[]): void {
    if (!this.#isPlain) this.#report(lines.join('\n'));
  }

  /** The program has ended; `screen` is what stands on it. */
  end(screen: readonly string[]): void {
    if (this.#isPlain) {
      const rest = (this.#open + this.#decoder.end()).replace(harmlessSequence, '');
      this.#open = '';
      if (rest.trim() !== '') this.#report(withoutReturns(rest));
      return;
    }
    const last = screen.findLastIndex((line) => line.trim() !== '');
    if (last !== -1) this.#report(screen.slice(0, last + 1).join('\n'));
  }

  /** The newest of what was reported and of the line that is open; undefined when lines are taken from the screen. */
  tail(maxChars: number): string | undefined {
    if (!this.#isPlain) return undefined;
    return `${this.#tail}${withoutReturns(this.#open.replace(harmlessSequence, ''))}`.slice(-maxChars);
  }

  /** Reports lines of the output itself. When they move the cursor, lines are taken from the screen from then on. */
  #plain(lines: string): void {
    if (!movingCharacter.test(lines)) return this.#report(withoutReturns(lines));
    const text = lines.replace(harmlessSequence, '');
    if (movingCharacter.test(text)) this.#isPlain = false;
    else this.#report(withoutReturns(text));
  }

  #report(text: string): void {
    this.#tail = `${this.#tail}${text.slice(-TAIL_CHARS)}\n`.slice(-TAIL_CHARS);
    this.#onText(text);
  }
}

/** Lines without their carriage returns: `10 %\r20 %\r100 %` reads `100 %`. */
function withoutReturns(text: string): string {
  const plain = text.replaceAll('\r\n', '\n');
  const rest = plain.endsWith('\r') ? plain.slice(0, -1) : plain;
  return rest.includes('\r') ? rest.split('\n').map(afterLastReturn).join('\n') : rest;
}

function afterLastReturn(line: string): string {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}
