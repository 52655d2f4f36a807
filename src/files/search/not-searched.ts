import { someNames } from '../../base/text/text.js';
import type { FileText } from './text-of-file.js';

/** Counts files that a search could not read or decode completely, and collects the names of secret files. */
export class NotSearched {
  readonly #secrets = new Set<string>();
  #binary = 0;
  #large = 0;
  #notUnicode = 0;

  count(file: FileText): void {
    if (file.state === 'binary') this.#binary++;
    else if (file.state === 'large') this.#large++;
    else if (file.state === 'text' && !file.isUnicode) this.#notUnicode++;
  }

  addSecret(path: string): void {
    this.#secrets.add(path);
  }

  /** Undefined when every file was searched. */
  note(): string | undefined {
    const parts = [
      ...(this.#binary > 0 ? [`${this.#binary} binary`] : []),
      ...(this.#large > 0 ? [`${this.#large} over 10 MB`] : []),
    ];
    const secrets = [...this.#secrets].sort();
    const sentences = [
      ...(secrets.length > 0
        ? [
            `Not searched because their names suggest secrets: ${someNames(secrets)}. Use read_file to read one.`,
          ]
        : []),
      ...(parts.length > 0 ? [`Files not searched: ${parts.join(', ')}.`] : []),
      ...(this.#notUnicode > 0
        ? [`Files searched only for ASCII text (neither UTF-8 nor UTF-16): ${this.#notUnicode}.`]
        : []),
    ];
    return sentences.length === 0 ? undefined : sentences.join(' ');
  }
}
