import { stripVTControlCharacters } from 'node:util';
import { tailChars } from '../../base/text/text.js';

/** Ten times what a status shows, and several screens; the log has the rest. */
const MAX_CHARS = 64 * 1024;

/** The last readable text of a program, in bounded memory. */
export class TextTail {
  #text = '';

  append(text: string): void {
    this.#text += text;
    // Cut at twice the bound, so that a burst of small pieces does not copy the text for each.
    if (this.#text.length > 2 * MAX_CHARS) this.#text = tailChars(this.#text, MAX_CHARS);
  }

  /** The last `maxChars` characters, trimmed and without escape codes. */
  read(maxChars: number): string {
    return tailChars(stripVTControlCharacters(tailChars(this.#text, MAX_CHARS)).trim(), maxChars);
  }

  /** The last `rows` lines. */
  lastLines(rows: number): string {
    return this.read(MAX_CHARS).split('\n').slice(-rows).join('\n');
  }
}
