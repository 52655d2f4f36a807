import { StringDecoder } from 'node:string_decoder';
import { movesCursor, movingCharacter } from '../../screen/plain-stream.js';
import { LineTail } from './line-tail.js';
import { MAX_PLAIN_LINE_BYTES, PlainLines } from './plain-lines.js';

/** A line without an end is told in pieces of this size, so that it never grows without bound. */
const MAX_OPEN_CHARS = 64 * 1024;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
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
  /** The line that has no end yet: as it came, so that a flood goes on with it, or as text, when it is long or came in pieces. */
  #openBytes: Buffer = NOTHING;
  #isOpenAsText = false;
  #open = '';
  #openIsPlain = true;
  readonly #tail = new LineTail();

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
    if (!this.isPlain) return;
    // A line that is open as text is told as text.
    const from = this.#isOpenAsText ? bytes.indexOf(NEWLINE) + 1 : 0;
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const plain = this.#plainLines.from(this.#openBytes, bytes.subarray(from, end));
    if (plain === undefined) return this.#read(bytes);
    if (from > 0) {
      this.#read(bytes.subarray(0, from));
      // What was open may have moved the cursor.
      if (!this.isPlain) return;
    }
    this.#tail.addBytes(plain);
    this.#onPlainLines(plain);
    this.#beginLine(bytes.subarray(end));
  }

  #read(bytes: Buffer): void {
    this.#openAsText();
    // Looked for in the bytes, where it costs next to nothing: a flood of plain lines is never looked at by a pattern.
    const isPlain = !movesCursor(bytes) && this.#openIsPlain;
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1) return this.#keepOpen(this.#open + this.#decoder.write(bytes), isPlain);
    // The line's end too, behind which no character goes on.
    const whole = this.#open + this.#decoder.write(bytes.subarray(0, end + 1)).slice(0, -1);
    const text = this.#plainText(whole, isPlain);
    if (text === undefined) return;
    this.#tell(withoutReturns(text));
    this.#beginLine(bytes.subarray(end + 1));
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
      this.#openAsText();
      const rest = (this.#open + this.#decoder.end()).replace(harmlessSequence, '');
      this.#beginLine(NOTHING);
      if (rest.trim() !== '') this.#tell(withoutReturns(rest));
      return;
    }
    const last = screen.findLastIndex((line) => line.trim() !== '');
    if (last !== -1) this.#tell(screen.slice(0, last + 1).join('\n'));
  }

  /** The newest of what was told and of the line that is open; undefined when the screen tells. */
  tail(maxChars: number): string | undefined {
    if (this.#mode === 'screen') return undefined;
    const open = this.#open + new StringDecoder('utf8').write(this.#openBytes);
    return `${this.#tail.text}${withoutReturns(open.replace(harmlessSequence, ''))}`.slice(-maxChars);
  }

  /** `whole` without colours; undefined when it moves the cursor, and from then on the screen is asked. */
  #plainText(whole: string, isPlain: boolean): string | undefined {
    if (isPlain) return whole;
    const text = whole.replace(harmlessSequence, '');
    if (!movingCharacter.test(text)) return text;
    // What is on the screen now is told when it scrolls off, or at the end.
    this.#mode = 'screen';
    this.#open = '';
    return undefined;
  }

  /** `bytes` follow a line's end. */
  #beginLine(bytes: Buffer): void {
    this.#isOpenAsText = false;
    this.#open = '';
    this.#openIsPlain = true;
    this.#openBytes = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
    if (bytes.length > MAX_PLAIN_LINE_BYTES) this.#openAsText();
  }

  #openAsText(): void {
    const bytes = this.#openBytes;
    if (bytes.length === 0) return;
    this.#openBytes = NOTHING;
    this.#keepOpen(this.#decoder.write(bytes), !movesCursor(bytes));
  }

  #keepOpen(text: string, isPlain: boolean): void {
    this.#isOpenAsText = true;
    this.#open = text;
    this.#openIsPlain = isPlain;
    if (text.length <= MAX_OPEN_CHARS) return;
    const plain = this.#plainText(text, isPlain);
    if (plain !== undefined) this.#tell(plain);
    this.#open = '';
  }

  #tell(text: string): void {
    this.#tail.add(text);
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
