import { sequenceEnd } from './escape-sequence.js';

const ESC = 0x1b;
const CSI = 0x5b;
const OSC = 0x5d;
const DCS = 0x50;
/** A sequence that is not complete after so much carries data, not a question. */
const MAX_CARRIED_BYTES = 4096;
/** Reports of windows and sizes (XTWINOPS): the others move or title a window. */
const FIRST_REPORT = 11;
const LAST_REPORT = 21;
const EMPTY = Buffer.alloc(0);

/**
 * Takes out of a program's output what a second terminal must not see: questions that it would answer, too, into the
 * program's input, and ways to encode keys that only the first terminal agreed to.
 */
export class QueryFilter {
  #carried = EMPTY;

  /** The output without questions; a sequence cut off at the end comes with the next piece. */
  filter(bytes: Buffer): Buffer {
    const all = this.#carried.length === 0 ? bytes : Buffer.concat([this.#carried, bytes]);
    this.#carried = EMPTY;
    const kept: Buffer[] = [];
    let from = 0;
    for (let at = all.indexOf(ESC); at !== -1;) {
      const end = sequenceEnd(all, at);
      if (end === -1) {
        if (all.length - at > MAX_CARRIED_BYTES) break;
        this.#carried = Buffer.from(all.subarray(at));
        kept.push(all.subarray(from, at));
        return Buffer.concat(kept);
      }
      if (isForOneTerminal(all.subarray(at, end))) {
        kept.push(all.subarray(from, at));
        from = end;
      }
      at = all.indexOf(ESC, Math.max(end, at + 1));
    }
    if (kept.length === 0) return all;
    kept.push(all.subarray(from));
    return Buffer.concat(kept);
  }
}

function isForOneTerminal(sequence: Buffer): boolean {
  switch (sequence[1]) {
    case CSI:
      return isCsiForOne(sequence);
    case OSC:
      // `OSC 11 ; ? ST` and its like.
      return /;\?(\x07|\x1b\\?)?$/.test(sequence.toString('latin1', 0, MAX_CARRIED_BYTES));
    case DCS:
      // DECRQSS and XTGETTCAP.
      return /^\x1bP[$+]q/.test(sequence.toString('latin1', 0, 4));
    default:
      return false;
  }
}

function isCsiForOne(sequence: Buffer): boolean {
  const final = String.fromCharCode(sequence.at(-1) ?? 0);
  const first = String.fromCharCode(sequence[2] ?? 0);
  switch (final) {
    case 'c':
    case 'n':
    case 'x':
      return true;
    case 'q':
      return first === '>';
    case 'p':
      return sequence.at(-2) === 0x24;
    case 'm':
      // Asking for, and choosing, how modified keys are encoded.
      return first === '?' || first === '>';
    case 'u':
      return sequence.length > 3;
    case 'S':
      return first === '?';
    case 't': {
      const operation = Number.parseInt(sequence.toString('latin1', 2, 5), 10);
      return operation >= FIRST_REPORT && operation <= LAST_REPORT;
    }
    default:
      return false;
  }
}
