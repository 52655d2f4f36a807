import { stripVTControlCharacters } from 'node:util';

/** A line without an end is returned in parts of this size, so that it does not grow without bound. */
const MAX_PENDING_CHARS = 16 * 1024;

/** Splits text that arrives in pieces into readable lines without escape codes. */
export class TextLines {
  #pending = '';

  /** Returns the lines that `text` completes. */
  push(text: string): string[] {
    const lines = (this.#pending + text).split('\n');
    this.#pending = lines.pop() ?? '';
    if (this.#pending.length > MAX_PENDING_CHARS) lines.push(this.flush()[0] ?? '');
    return lines.map(readable);
  }

  /** Returns the last line if it has no end. */
  flush(): string[] {
    const last = this.#pending;
    this.#pending = '';
    return last === '' ? [] : [readable(last)];
  }
}

function readable(line: string): string {
  return stripVTControlCharacters(line).replace(/\r$/, '');
}
