import { someNames } from '../../base/text/text.js';
import type { FileText } from './text-of-file.js';

/** Counts files that a search could not read or decode completely, and collects the names of secret files and of folders. */
export class NotSearched {
  readonly #secrets = new Set<string>();
  readonly #folders = new Map<string, string>();
  #binary = 0;
  #large = 0;
  #notUnicode = 0;
  #replacedNames = 0;

  count(file: FileText): void {
    if (file.state === 'binary') this.#binary++;
    else if (file.state === 'large') this.#large++;
    else if (file.state === 'text' && !file.isUnicode) this.#notUnicode++;
  }

  /** Files whose names are not UTF-8. */
  addReplacedNames(count: number): void {
    this.#replacedNames += count;
  }

  /** `why` is the note of a walked folder; undefined for one that was read. */
  addFolder(path: string, why: string | undefined): void {
    if (why !== undefined) this.#folders.set(path, why);
  }

  addSecret(path: string): void {
    this.#secrets.add(path);
  }

  /** Undefined when every file was searched. */
  note(): string | undefined {
    const parts = [
      ...(this.#binary > 0 ? [`${this.#binary} binary`] : []),
      ...(this.#large > 0 ? [`${this.#large} over 10 MB`] : []),
      ...(this.#replacedNames > 0 ? [`${this.#replacedNames} whose names are not UTF-8`] : []),
    ];
    const folders = [...this.#folders].map(([path, why]) => `${path} (${why})`).sort();
    const hasRepository = [...this.#folders.values()].includes('repository');
    const secrets = [...this.#secrets].sort();
    const sentences = [
      ...(secrets.length > 0
        ? [
            `Not searched because their names suggest secrets: ${someNames(secrets)}. Use read_file to read one.`,
          ]
        : []),
      ...(parts.length > 0 ? [`Files not searched: ${parts.join(', ')}.`] : []),
      ...(folders.length > 0
        ? [
            `Folders not searched: ${someNames(folders)}.${hasRepository ? ' To search a repository, give it as path.' : ''}`,
          ]
        : []),
      ...(this.#notUnicode > 0
        ? [`Files searched only for ASCII text (neither UTF-8 nor UTF-16): ${this.#notUnicode}.`]
        : []),
    ];
    return sentences.length === 0 ? undefined : sentences.join(' ');
  }
}
