// Pure.
import { z } from 'zod';
import { oneLine } from '../../base/text/text.js';
import type { JournalEntry } from '../../store/journal-line.js';

const MAX_NOTES = 20;
const TEXT_CHARS = 300;

const troubleBegan = z.looseObject({ kind: z.string(), text: z.string() });

/** The trouble that a task went through, as lines of its receipt: what, from when, until when. */
export class TroubleNotes {
  readonly #lines: string[] = [];
  #open: string | undefined;

  take(entry: JournalEntry): void {
    if (entry.type === 'trouble') {
      const { data } = troubleBegan.safeParse(entry);
      if (data === undefined) return;
      this.#close('');
      this.#open = `Trouble (${data.kind}), told at ${entry.at}: ${oneLine(data.text, TEXT_CHARS)}`;
    } else if (entry.type === 'trouble-over') {
      this.#close(` The session went on at ${entry.at}.`);
    }
  }

  /** The last ones, when there were many. */
  get lines(): readonly string[] {
    return this.#open === undefined ? this.#lines : [...this.#lines, this.#open].slice(-MAX_NOTES);
  }

  #close(end: string): void {
    if (this.#open === undefined) return;
    this.#lines.push(`${this.#open}${end === '' ? '' : `.${end}`}`);
    this.#open = undefined;
    if (this.#lines.length > MAX_NOTES) this.#lines.shift();
  }
}
