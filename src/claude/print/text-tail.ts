// Pure.
import { stripVTControlCharacters } from 'node:util';
import { tailChars } from '../../base/text/text.js';

/** Ten times what a status shows, and several screens; the log has the rest. */
const MAX_CHARS = 64 * 1024;

/** The last readable text of a program, in bounded memory. */
export class TextTail {
  #text = '';
  /** Where the newest turn begins in the text. */
  #turnAt = 0;

  /** What was before stays on the screen, and is no output of the turn that begins. */
  beginTurn(): void {
    this.#turnAt = this.#text.length;
  }

  append(text: string): void {
    this.#text += text;
    // Cut at twice the bound, so that a burst of small pieces does not copy the text for each.
    if (this.#text.length <= 2 * MAX_CHARS) return;
    const kept = tailChars(this.#text, MAX_CHARS);
    this.#turnAt = Math.max(0, this.#turnAt - (this.#text.length - kept.length));
    this.#text = kept;
  }

  /** The last `maxChars` characters of the newest turn, trimmed and without escape codes. */
  read(maxChars: number): string {
    return readable(this.#text.slice(this.#turnAt), maxChars);
  }

  /** The last `rows` lines. */
  lastLines(rows: number): string {
    return readable(this.#text, MAX_CHARS).split('\n').slice(-rows).join('\n');
  }
}

function readable(text: string, maxChars: number): string {
  return tailChars(stripVTControlCharacters(tailChars(text, MAX_CHARS)).trim(), maxChars);
}
