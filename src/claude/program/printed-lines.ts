import { StringDecoder } from 'node:string_decoder';

/** A line without an end is told in pieces of this size, so that it never grows without bound. */
const MAX_OPEN_CHARS = 64 * 1024;
const TAIL_CHARS = 4_000;
/** Colours and titles change how text looks, not where it stands. */
const harmlessSequence = /\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
/** What a plain stream of lines may hold besides text. */
const movesCursor = /[\x1b\x08\x0b\x0c]/;

/**
 * The readable lines of a program. As long as it prints plain lines they are taken from its output as they are, every
 * one, however fast; once it moves the cursor they are taken from the screen, as a person would have read them.
 */
export class PrintedLines {
  readonly #onLines: (lines: readonly string[]) => void;
  readonly #decoder = new StringDecoder('utf8');
  #mode: 'plain' | 'screen' = 'plain';
  #open = '';
  #tail = '';

  constructor(onLines: (lines: readonly string[]) => void) {
    this.#onLines = onLines;
  }

  bytes(bytes: Buffer): void {
    if (this.#mode === 'screen') return;
    const text = this.#open + this.#decoder.write(bytes);
    const end = text.lastIndexOf('\n');
    const whole = end === -1 ? '' : text.slice(0, end);
    const plain = whole.includes('\x1b') ? whole.replace(harmlessSequence, '') : whole;
    if (movesCursor.test(plain)) {
      // From here on the screen knows better; what is on it now is told when it scrolls off, or at the end.
      this.#mode = 'screen';
      this.#open = '';
      return;
    }
    this.#open = text.slice(end + 1);
    if (end !== -1) this.#tell(plain.replaceAll('\r\n', '\n').split('\n').map(afterLastReturn));
    if (this.#open.length > MAX_OPEN_CHARS && !this.#open.includes('\x1b')) {
      this.#tell([this.#open]);
      this.#open = '';
    }
  }

  scrolledOff(lines: readonly string[]): void {
    if (this.#mode === 'screen') this.#tell(lines);
  }

  skipped(bytes: number): void {
    if (this.#mode === 'screen')
      this.#tell([`[${bytes} bytes of fast output are not shown here; the terminal recording has them]`]);
  }

  /** The program has ended; `screen` is what stands on it. */
  end(screen: readonly string[]): void {
    if (this.#mode === 'plain') {
      const rest = (this.#open + this.#decoder.end()).replace(harmlessSequence, '');
      if (rest.trim() !== '') this.#tell([afterLastReturn(rest)]);
      return;
    }
    const last = screen.findLastIndex((line) => line.trim() !== '');
    if (last !== -1) this.#tell(screen.slice(0, last + 1));
  }

  /** The newest told text followed by what the screen shows, for programs whose lines are still on the screen. */
  tail(maxChars: number, screen: string): string {
    if (this.#mode === 'plain')
      return `${this.#tail}${this.#open.replace(harmlessSequence, '')}`.slice(-maxChars);
    return screen;
  }

  #tell(lines: readonly string[]): void {
    this.#tail = `${this.#tail}${lines.slice(-200).join('\n')}\n`.slice(-TAIL_CHARS);
    this.#onLines(lines);
  }
}

/** `10 %\r20 %\r100 %` reads `100 %`. */
function afterLastReturn(line: string): string {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}
