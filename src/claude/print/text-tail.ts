import { stripVTControlCharacters } from 'node:util';
import { tailChars } from '../../base/text/text.js';

/** Ten times what a status shows and several screens: more is in the log. */
const KEPT_CHARS = 64 * 1024;

/** The last readable text of a program, bounded. */
export class TextTail {
  #text = '';

  append(text: string): void {
    this.#text += text;
    // Cut at twice the bound, so that a flood of small pieces is not copied for each of them.
    if (this.#text.length > 2 * KEPT_CHARS) this.#text = tailChars(this.#text, KEPT_CHARS);
  }

  /** The last `maxChars` characters without escape codes and without blank ends. */
  read(maxChars: number): string {
    return tailChars(stripVTControlCharacters(tailChars(this.#text, KEPT_CHARS)).trim(), maxChars);
  }

  /** The last `rows` lines. */
  lastLines(rows: number): string {
    return this.read(KEPT_CHARS).split('\n').slice(-rows).join('\n');
  }
}
