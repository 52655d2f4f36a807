import { sequenceEnd } from './escape-sequence.js';

const ESC = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
/** A sequence longer than this carries data (a title, an image), not a mode; its rest is skipped with everything else. */
const MAX_SEQUENCE_BYTES = 4096;
/** Queries that wait for an answer; a program cannot wait for more than a few at once. */
const MAX_QUERIES = 32;
/** Forgets what CAN begins: the parser may stand inside a sequence that was cut off. */
const CANCEL = '\x18';

/**
 * Reads output that will not be shown and keeps what still matters behind it: modes (alternate screen, cursor keys, mouse,
 * bracketed paste, …), scroll region, character sets, and queries that the program waits on. The text itself is dropped.
 */
export class SkippedModes {
  /** By what they set; the order is that of their last setting. */
  readonly #modes = new Map<string, string>();
  #queries: string[] = [];
  #carry: Buffer | undefined;
  #reset = false;

  skip(bytes: Buffer): void {
    const all = this.#carry ? Buffer.concat([this.#carry, bytes]) : bytes;
    this.#carry = undefined;
    this.#noteShift(all);
    let at = all.indexOf(ESC);
    while (at !== -1) {
      const end = sequenceEnd(all, at);
      if (end === -1) {
        if (all.length - at <= MAX_SEQUENCE_BYTES) this.#carry = Buffer.from(all.subarray(at));
        return;
      }
      this.#note(all, at, end);
      at = all.indexOf(ESC, Math.max(end, at + 1));
    }
  }

  /** What has to be fed to the terminal in place of the skipped output. Starts anew behind it. */
  take(): string {
    const text = [
      CANCEL,
      this.#reset ? '\x1bc' : '',
      '\x1b[0m',
      ...this.#modes.values(),
      ...this.#queries,
      // What follows continues a sequence that began in the skipped part.
      this.#carry?.toString('latin1') ?? '',
    ].join('');
    this.#modes.clear();
    this.#queries = [];
    this.#carry = undefined;
    this.#reset = false;
    return text;
  }

  #note(bytes: Buffer, start: number, end: number): void {
    const kind = bytes[start + 1];
    const final = bytes[end - 1];
    if (kind === 0x5b) {
      // Colours and cursor moves are nearly all there is: they are told by their last byte, without making a string.
      if (final === undefined || !CSI_FINALS.has(final) || end - start > MAX_SEQUENCE_BYTES) return;
      this.#noteCsi(bytes.toString('latin1', start + 2, end - 1), String.fromCharCode(final));
    } else if (kind === 0x5d) {
      if (isColourQuery(bytes, start, end)) this.#ask(bytes.toString('latin1', start, end));
    } else if (kind !== undefined && ESC_KINDS.has(kind)) {
      this.#noteEscape(bytes.toString('latin1', start, end));
    }
  }

  #noteCsi(parameters: string, final: string): void {
    const sequence = `\x1b[${parameters}${final}`;
    if (final === 'h' || final === 'l') {
      const prefix = parameters.startsWith('?') ? '?' : '';
      for (const mode of parameters.slice(prefix.length).split(';')) {
        this.#set(`mode ${prefix}${mode}`, `\x1b[${prefix}${mode}${final}`);
      }
    } else if (final === 'r' && !parameters.startsWith('?')) this.#set('scroll region', sequence);
    else if (final === 'q' && parameters.endsWith(' ')) this.#set('cursor style', sequence);
    else if (final === 'p' && parameters === '!') this.#set('soft reset', sequence);
    else if (final === 'p' && parameters.endsWith('$')) this.#ask(sequence);
    else if (final === 'c' || final === 'n' || (final === 'q' && parameters.startsWith('>')))
      this.#ask(sequence);
    else if (final === 'u' && parameters === '?') this.#ask(sequence);
  }

  #noteEscape(sequence: string): void {
    const kind = sequence[1] ?? '';
    if (kind === 'c') {
      this.#modes.clear();
      this.#reset = true;
    } else if (kind === '=' || kind === '>') this.#set('keypad', sequence);
    else this.#set(`charset ${kind}`, sequence);
  }

  /** SO and SI choose between two character sets; only the last one counts. */
  #noteShift(bytes: Buffer): void {
    const out = bytes.lastIndexOf(SHIFT_OUT);
    const back = bytes.lastIndexOf(SHIFT_IN);
    if (out !== back) this.#set('shift', out > back ? '\x0e' : '\x0f');
  }

  #set(key: string, sequence: string): void {
    this.#modes.delete(key);
    this.#modes.set(key, sequence);
  }

  #ask(sequence: string): void {
    if (this.#queries.length < MAX_QUERIES) this.#queries.push(sequence);
  }
}

const CSI_FINALS = new Set(Buffer.from('hlrqpcnu'));
const ESC_KINDS = new Set(Buffer.from('c=>()*+'));

/** `OSC 10 ; ? ST` and its like: the program asks for a colour. */
function isColourQuery(bytes: Buffer, start: number, end: number): boolean {
  return end - start <= 24 && bytes.subarray(start, end).includes(0x3f);
}
