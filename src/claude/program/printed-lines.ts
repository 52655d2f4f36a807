// Pure.
import { StringDecoder } from 'node:string_decoder';

/** A line without an end is reported in pieces of this size, so that it never grows without bound. */
const MAX_OPEN_CHARS = 64 * 1024;
/** How much of the newest lines is stored. */
const TAIL_CHARS = 4_000;
/** Colors and titles: they do not move text. */
const harmlessSequence = /\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
/** ESC, backspace, vertical tab and form feed: plain lines do not contain them. */
const movingCharacter = /[\x1b\x08\x0b\x0c]/;

/**
 * The readable lines of a program. While it prints plain lines, they come directly from its output; once it moves the cursor, they come
 * from the screen, as a person would read them.
 */
export class PrintedLines {
  readonly #onText: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #isPlain = true;
  /** The incomplete last line. */
  #open = '';
  #tail = '';

  /** `onText` gets one or more whole lines, joined by newlines, without a newline at the end. */
  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** All lines so far came directly from the output. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  /** Takes output before the screen parses it; lines that it scrolls off are passed afterwards. */
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

  /** The program has ended; `screen` holds its last lines. */
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

  /** The end of the reported lines and the incomplete line; undefined when lines come from the screen. */
  tail(maxChars: number): string | undefined {
    if (!this.#isPlain) return undefined;
    return `${this.#tail}${withoutReturns(this.#open.replace(harmlessSequence, ''))}`.slice(-maxChars);
  }

  /** Reports lines of the output. If they move the cursor, all further lines come from the screen. */
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

/** Applies carriage returns: `10 %\r20 %\r100 %` becomes `100 %`. */
function withoutReturns(text: string): string {
  const plain = text.replaceAll('\r\n', '\n');
  const rest = plain.endsWith('\r') ? plain.slice(0, -1) : plain;
  return rest.includes('\r') ? rest.split('\n').map(afterLastReturn).join('\n') : rest;
}

function afterLastReturn(line: string): string {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}
