import { StringDecoder } from 'node:string_decoder';
import { PlainLines } from './plain-lines.js';

/** A line without an end is told in pieces of this size, so that it never grows without bound. */
const MAX_OPEN_CHARS = 64 * 1024;
const TAIL_CHARS = 4_000;
/** That many characters take at most so many bytes, and one before them may be cut. */
const TAIL_BYTES = 3 * (TAIL_CHARS + 1);
const NEWLINE = 0x0a;
/** ESC, backspace, vertical tab and form feed: what a plain stream of lines does not hold. */
const MOVING_BYTES = [0x1b, 0x08, 0x0b, 0x0c] as const;
const movesCursor = /[\x1b\x08\x0b\x0c]/;
/** Colours and titles change how text looks, not where it stands. */
const harmlessSequence = /\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/**
 * The readable lines of a program. As long as it prints plain lines they are taken from its output as they are, every
 * one, however fast; once it moves the cursor they are taken from the screen, as a person would have read them.
 */
export class PrintedLines {
  readonly #onText: (text: string) => void;
  readonly #onPlainLines: (lines: Buffer) => void;
  readonly #plainLines: Pick<PlainLines, 'from'>;
  readonly #decoder = new StringDecoder('utf8');
  #mode: 'plain' | 'screen' = 'plain';
  #open = '';
  #openIsPlain = true;
  #tail = '';

  /**
   * `onText` gets one or more whole lines, joined by newlines, without the last one's end; `onPlainLines` those of a flood that
   * hold nothing but text, as PlainLines gives them.
   */
  constructor(
    onText: (text: string) => void,
    onPlainLines: (lines: Buffer) => void,
    plainLines: Pick<PlainLines, 'from'> = new PlainLines(),
  ) {
    this.#onText = onText;
    this.#onPlainLines = onPlainLines;
    this.#plainLines = plainLines;
  }

  /** Every line so far was taken from the output itself. */
  get isPlain(): boolean {
    return this.#mode === 'plain';
  }

  bytes(bytes: Buffer): void {
    // A first line goes on where the bytes before ended, and the last one may have no end yet: these are told as text.
    const from = bytes.indexOf(NEWLINE) + 1;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const plain = this.#mode === 'plain' ? this.#plainLines.from(bytes.subarray(from, end)) : undefined;
    if (plain === undefined) return this.#read(bytes);
    this.#read(bytes.subarray(0, from));
    // What was open may have moved the cursor.
    if (!this.isPlain) return;
    this.#tail = (this.#tail + plain.toString('utf8', Math.max(0, plain.length - TAIL_BYTES))).slice(
      -TAIL_CHARS,
    );
    this.#onPlainLines(plain);
    this.#read(bytes.subarray(end));
  }

  #read(bytes: Buffer): void {
    if (this.#mode === 'screen') return;
    // Looked for in the bytes, where it costs next to nothing: a flood of plain lines is never looked at by a pattern.
    const isPlain = !MOVING_BYTES.some((byte) => bytes.includes(byte));
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1) {
      this.#keepOpen(this.#open + this.#decoder.write(bytes), isPlain && this.#openIsPlain);
      return;
    }
    // The line's end too, behind which no character goes on.
    const whole = this.#open + this.#decoder.write(bytes.subarray(0, end + 1)).slice(0, -1);
    const text = this.#plainText(whole, isPlain && this.#openIsPlain);
    if (text === undefined) return;
    this.#tell(withoutReturns(text));
    this.#keepOpen(this.#decoder.write(bytes.subarray(end + 1)), isPlain);
  }

  scrolledOff(lines: readonly string[]): void {
    if (this.#mode === 'screen') this.#tell(lines.join('\n'));
  }

  skipped(bytes: number): void {
    if (this.#mode === 'screen')
      this.#tell(`[${bytes} bytes of fast output are not shown here; the terminal recording has them]`);
  }

  /** The program has ended; `screen` is what stands on it. */
  end(screen: readonly string[]): void {
    if (this.#mode === 'plain') {
      const rest = (this.#open + this.#decoder.end()).replace(harmlessSequence, '');
      if (rest.trim() !== '') this.#tell(withoutReturns(rest));
      return;
    }
    const last = screen.findLastIndex((line) => line.trim() !== '');
    if (last !== -1) this.#tell(screen.slice(0, last + 1).join('\n'));
  }

  /** The newest told text followed by what the screen shows, for programs whose lines are still on the screen. */
  tail(maxChars: number, screen: string): string {
    if (this.#mode === 'plain')
      return `${this.#tail}${this.#open.replace(harmlessSequence, '')}`.slice(-maxChars);
    return screen;
  }

  /** `whole` without colours; undefined when it moves the cursor, and from then on the screen is asked. */
  #plainText(whole: string, isPlain: boolean): string | undefined {
    if (isPlain) return whole;
    const text = whole.replace(harmlessSequence, '');
    if (!movesCursor.test(text)) return text;
    // What is on the screen now is told when it scrolls off, or at the end.
    this.#mode = 'screen';
    this.#open = '';
    return undefined;
  }

  #keepOpen(text: string, isPlain: boolean): void {
    this.#open = text;
    this.#openIsPlain = isPlain;
    if (text.length <= MAX_OPEN_CHARS) return;
    const plain = this.#plainText(text, isPlain);
    if (plain !== undefined) this.#tell(plain);
    this.#open = '';
  }

  #tell(text: string): void {
    this.#tail =
      text.length >= TAIL_CHARS
        ? `${text.slice(1 - TAIL_CHARS)}\n`
        : `${this.#tail}${text}\n`.slice(-TAIL_CHARS);
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
