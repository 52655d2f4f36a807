import { compareText } from '../list/list-order.js';
import type { FoundLine } from './search-text.js';

/** A match takes more than this in an answer, in addition to its path and its text. */
export const MIN_MATCH_BYTES = 40;

/** A match as ripgrep found it. The file is read again before the match is shown. */
export interface ShownLine extends Omit<FoundLine, 'start'> {
  /** The line, shortened for the answer. */
  readonly shown: string;
}

export interface FoundFile {
  readonly path: string;
  readonly lines: readonly ShownLine[];
  /** True when the file may have more matching lines. */
  readonly isCut: boolean;
}

/** Collects matching lines of one file until they fill a page. */
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

/** Takes files in any order, and stores only the first ones in path order that fill a page. So memory is bounded. */
export class FirstFiles {
  readonly #bytesWanted: number;
  #files: FileLines[] = [];
  #bytes = 0;
  /** Files after this path are not wanted. */
  #bound: string | undefined;

  constructor(bytesWanted: number) {
    this.#bytesWanted = bytesWanted;
  }

  /** True when files were dropped. */
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
