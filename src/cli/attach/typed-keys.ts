// Pure.
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';

/** The bytes of one key come together; Esc, or Alt and a character, is a key when nothing follows within this. */
const APART_MS = 50;
/** The rest of an answer comes within this, also over a slow line. */
const ANSWER_MS = 1_000;
/** No answer of a terminal is longer. */
const MAX_ANSWER_CHARS = 4_096;

/** Text in bytes; a control character of eight bits, which no key sends, in UTF-8. */
const text = /[^\x1b\xc2]+|\xc2[\x80-\xbf]|\xc2(?=[^\x80-\xbf])/y;
/**
 * Arrows, function keys and their modifiers, the key encodings of xterm and kitty, marks of a paste. A report of the cursor
 * (R) looks like Shift-F3 of some terminals, and counts as the report.
 */
const keySequence = /^\x1b(?:\[[\d;:]*[A-HPQSZ~u]|\[\[[A-E]|O[ -~]|[^[\]OPX^_])$/;
/** A key or an answer that is whole: CSI, F1 to F5 of the Linux console, a report of the mouse, SS3, strings, Alt and a character. */
const sequence =
  /\x1b(?:\[M[^]{3}|\[\[[A-E]|\[(?![M[])[\x20-\x3f]*[\x40-\x7e]|O[ -~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[^\x1b[\]OPX^_])/y;
/** What may become one. */
const unfinished = /\x1b(?:\[(?:M[^]{0,2}|\[|[\x20-\x3f]*)|O|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?)?$/y;

/**
 * Takes the answers of a person's terminal out of what comes from it, and passes keys on. Nothing that the bridge shows asks
 * that terminal, but others do: what it answers must not be typed into a session in the person's name.
 */
export class TypedKeys implements Disposable {
  readonly #clock: Clock;
  readonly #pass: (keys: Buffer) => void;
  #carried = '';
  #timer: Disposable | undefined;

  constructor(clock: Clock, pass: (keys: Buffer) => void) {
    this.#clock = clock;
    this.#pass = pass;
  }

  read(typed: Buffer): void {
    this.#timer?.dispose();
    const all = this.#carried + typed.toString('latin1');
    this.#carried = '';
    let keys = '';
    for (let at = 0; at < all.length;) {
      const whole = matchAt(text, all, at) ?? matchAt(sequence, all, at);
      if (whole !== undefined) {
        if (isKey(whole)) keys += whole;
        at += whole.length;
        continue;
      }
      const rest = matchAt(unfinished, all, at) ?? (all.slice(at) === '\xc2' ? '\xc2' : undefined);
      if (rest !== undefined) {
        this.#carried = rest.slice(0, MAX_ANSWER_CHARS);
        break;
      }
      // An answer that was broken off by something else; or Esc before another key.
      const isEscape = all[at + 1] === '\x1b';
      if (isEscape) keys += '\x1b';
      at += isEscape ? 1 : brokenLength(all, at);
    }
    if (keys !== '') this.#pass(Buffer.from(keys, 'latin1'));
    if (this.#carried !== '') this.#wait();
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  /** What is not continued is a key of its own, or the start of an answer whose end is lost. */
  #wait(): void {
    const isKeyAlone = /^(?:\x1b[^]?|\xc2)$/.test(this.#carried);
    this.#timer = this.#clock.after(isKeyAlone ? APART_MS : ANSWER_MS, () => {
      const keys = this.#carried;
      this.#carried = '';
      if (isKeyAlone) this.#pass(Buffer.from(keys, 'latin1'));
    });
  }
}

function isKey(whole: string): boolean {
  if (whole.startsWith('\x1b')) return keySequence.test(whole);
  return !/^\xc2[\x80-\x9f]$/.test(whole);
}

function matchAt(pattern: RegExp, all: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(all)?.[0];
}

/** How long the broken sequence at `at` is: up to what broke it off. */
function brokenLength(all: string, at: number): number {
  const end = all.slice(at + 1).search(/[\x00-\x1f]/);
  return end === -1 ? all.length - at : end + 1;
}
