import { compareText } from '../list/list-order.js';
import type { FoundLine } from './search-text.js';

/** A match takes more than this in an answer, besides its path and its line. */
export const MIN_MATCH_BYTES = 40;

/** A match as an engine found it; the file is read again before it is shown. */
export interface ShownLine extends Omit<FoundLine, 'start'> {
  /** The line, cut as it is shown. */
  readonly shown: string;
}

export interface FoundFile {
  readonly path: string;
  readonly lines: readonly ShownLine[];
  /** True when there may be more lines in it. */
  readonly isCut: boolean;
}

/** The lines of one file, as many as fill a page. */
export class FileLines {
  readonly path: string;
  readonly lines: ShownLine[] = [];
  bytes = 0;
  isCut = false;
  readonly #bytesWanted: number;

  constructor(path: string, bytesWanted: number) {
    this.path = path;
    this.#bytesWanted = bytesWanted;
  }

  add(line: ShownLine): void {
    if (this.bytes > this.#bytesWanted) {
      this.isCut = true;
      return;
    }
    this.lines.push(line);
    this.bytes += MIN_MATCH_BYTES + this.path.length + line.shown.length;
  }
}

/** Of the files that an engine finds, in any order, the first ones: as many as fill a page. Memory is bounded by that. */
export class FirstFiles {
  readonly #bytesWanted: number;
  #files: FileLines[] = [];
  #bytes = 0;
  /** No file behind this one is wanted. */
  #bound: string | undefined;

  constructor(bytesWanted: number) {
    this.#bytesWanted = bytesWanted;
  }

  /** True when files were left out. */
  get isCut(): boolean {
    return this.#bound !== undefined;
  }

  wants(path: string): boolean {
    return this.#bound === undefined || compareText(path, this.#bound) < 0;
  }

  add(file: FileLines): void {
    if (file.lines.length === 0 || !this.wants(file.path)) return;
    this.#files.push(file);
    this.#bytes += file.bytes;
    if (this.#bytes > 2 * this.#bytesWanted) this.#drop();
  }

  inOrder(): readonly FoundFile[] {
    return this.#files.sort((one, other) => compareText(one.path, other.path));
  }

  #drop(): void {
    this.inOrder();
    let bytes = 0;
    const count = this.#files.findIndex((file) => (bytes += file.bytes) > this.#bytesWanted) + 1;
    if (count === 0 || count === this.#files.length) return;
    this.#files = this.#files.slice(0, count);
    this.#bytes = bytes;
    this.#bound = this.#files.at(-1)?.path;
  }
}
