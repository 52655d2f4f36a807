import { createHash, type Hash } from 'node:crypto';
import { patchName } from './patch-name.js';
import { shownBytes } from './shown-bytes.js';

/** More of a patch is counted, and on no page. */
const MAX_BYTES = 16_000_000;
/** Enough of a hash to tell two patches apart. */
const MARK_CHARS = 16;
/** What is read of the lines above the first hunk of a file to learn its name. */
const MAX_HEADER_LINES = 12;
const MAX_HEADER_BYTES = 65_536;
const FILE_START = Buffer.from('diff ');
// Lines of content begin with a space, a sign or a backslash: nothing that is changed can look like a border.
const NEXT_FILE = Buffer.from('\ndiff ');
const NEXT_HUNK = Buffer.from('\n@@');

/** The part of a patch that is about one file. */
export interface PatchSection {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A whole patch, with what its pages need to know of it. */
export interface Patch {
  /** At most 16 MB; `totalBytes` counts all. */
  readonly bytes: Buffer;
  readonly totalBytes: number;
  readonly files: number;
  /** Those that begin in `bytes`. */
  readonly sections: readonly PatchSection[];
  /** Where files and hunks begin, in order. The first hunk of a file belongs to the lines above it. */
  readonly borders: readonly number[];
  /** Tells this patch from every other one. */
  readonly mark: string;
}

/** Takes a patch as it streams by. */
export class PatchReader {
  readonly #hash: Hash = createHash('sha256');
  #chunks: Buffer[] = [];
  #kept = 0;
  #total = 0;
  #files = 0;
  /** The end of what came before, in which the start of a file may begin. */
  #tail: Buffer = Buffer.from('\n');

  push(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#files += count(Buffer.concat([this.#tail, chunk]), NEXT_FILE);
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-NEXT_FILE.length)]).subarray(
      1 - NEXT_FILE.length,
    );
    const part = chunk.subarray(0, Math.max(0, MAX_BYTES - this.#kept));
    if (part.length > 0) this.#chunks.push(part);
    this.#kept += part.length;
    this.#total += chunk.length;
  }

  finish(): Patch {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const starts = [
      ...(bytes.subarray(0, FILE_START.length).equals(FILE_START) ? [0] : []),
      ...placesOf(bytes, NEXT_FILE),
    ];
    const hunks = [...placesOf(bytes, NEXT_HUNK)];
    const sections: PatchSection[] = [];
    const borders: number[] = [];
    let hunk = 0;
    for (const [index, start] of starts.entries()) {
      const end = starts[index + 1] ?? (this.#total > bytes.length ? this.#total : bytes.length);
      const first = hunks[hunk] ?? end;
      sections.push({ file: fileOf(bytes.subarray(start, Math.min(first, end))), start, end });
      borders.push(start);
      for (let isFirst = true; (hunks[hunk] ?? end) < end; hunk++, isFirst = false)
        if (!isFirst) borders.push(hunks[hunk] ?? end);
    }
    const mark = this.#hash.digest('hex').slice(0, MARK_CHARS);
    return { bytes, totalBytes: this.#total, files: this.#files, sections, borders, mark };
  }
}

/** The name in the lines above the first hunk; empty when they hold none. */
function fileOf(header: Buffer): string {
  const name = patchName(header.toString('latin1', 0, MAX_HEADER_BYTES).split('\n', MAX_HEADER_LINES));
  return name === undefined ? '' : shownBytes(name).text;
}

function count(bytes: Buffer, text: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found++;
  return found;
}

/** Where the lines begin that begin with `text`, but for the first line; a line end comes first in `text`. */
function* placesOf(bytes: Buffer, text: Buffer): Generator<number> {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) yield at + 1;
}
