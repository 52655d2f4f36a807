// Pure.
import { createHash, type Hash } from 'node:crypto';
import { patchName } from './patch-name.js';
import { shownBytes } from './shown-bytes.js';

/** The rest of a larger patch is only counted and is on no page. */
const MAX_BYTES = 16_000_000;
/** Characters of the hash, enough to distinguish patches. */
const HASH_CHARS = 16;
/** Limits of the lines above the first hunk in which the file name is searched. */
const MAX_HEADER_LINES = 12;
const MAX_HEADER_BYTES = 65_536;
const FILE_START = Buffer.from('diff ');
// Lines of content begin with a space, a sign or a backslash, so changed content never looks like a border.
const NEXT_FILE = Buffer.from('\ndiff ');
const NEXT_HUNK = Buffer.from('\n@@');

/** The part of a patch that is about one file. */
interface PatchSection {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A whole patch, with an index for its pages. */
export interface Patch {
  /** At most 16 MB; `totalBytes` counts all. */
  readonly bytes: Buffer;
  readonly totalBytes: number;
  readonly files: number;
  /** The files that begin in `bytes`. */
  readonly sections: readonly PatchSection[];
  /** Sorted offsets at which files and hunks begin, except the first hunk of each file, which stays with its header. */
  readonly borders: readonly number[];
  /** Identifies this patch. */
  readonly hash: string;
}

/** Builds a patch from a stream. */
export class PatchReader {
  readonly #hash: Hash = createHash('sha256');
  #chunks: Buffer[] = [];
  #stored = 0;
  #total = 0;
  #files = 0;
  /** The end of the previous chunks, in which a match of `NEXT_FILE` may begin. */
  #tail: Buffer = Buffer.from('\n');

  push(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#files += count(Buffer.concat([this.#tail, chunk]), NEXT_FILE);
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-NEXT_FILE.length)]).subarray(
      1 - NEXT_FILE.length,
    );
    const part = chunk.subarray(0, Math.max(0, MAX_BYTES - this.#stored));
    if (part.length > 0) this.#chunks.push(part);
    this.#stored += part.length;
    this.#total += chunk.length;
  }

  finish(): Patch {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const starts = [
      ...(bytes.subarray(0, FILE_START.length).equals(FILE_START) ? [0] : []),
      ...offsetsOf(bytes, NEXT_FILE),
    ];
    const hunks = [...offsetsOf(bytes, NEXT_HUNK)];
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
    const hash = this.#hash.digest('hex').slice(0, HASH_CHARS);
    return { bytes, totalBytes: this.#total, files: this.#files, sections, borders, hash };
  }
}

/** The name in the lines above the first hunk; empty when they contain none. */
function fileOf(header: Buffer): string {
  const name = patchName(header.toString('latin1', 0, MAX_HEADER_BYTES).split('\n', MAX_HEADER_LINES));
  return name === undefined ? '' : shownBytes(name).text;
}

function count(bytes: Buffer, text: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found++;
  return found;
}

/** Offsets of the lines that begin with `text`, except the first line. `text` begins with a line end. */
function* offsetsOf(bytes: Buffer, text: Buffer): Generator<number> {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) yield at + 1;
}
