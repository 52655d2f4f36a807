import { createHash, type Hash } from 'node:crypto';
import { BridgeError } from '../base/errors.js';
import { patchName } from './patch-name.js';
import { shownBytes } from './shown-bytes.js';

/** Lines above the first hunk of a file that are kept to learn its name. */
const MAX_HEADER_LINES = 12;
const MAX_HEADER_LINE_BYTES = 16_384;
/** Files that are named as left out; the rest is counted. */
const MAX_NAMED_FILES = 100;
const NEW_LINE = 0x0a;
const FILE_START = 'diff ';
const NEXT_FILE = `\n${FILE_START}`;
const MAX_CHARACTER_BYTES = 4;
/** Enough of a hash to tell two diffs apart. */
const MARK_CHARS = 16;

/** Where a page begins: behind so many bytes of the same patch. */
export interface PatchPosition {
  readonly offset: number;
  /** Hash of all bytes before; empty at the beginning. */
  readonly mark: string;
}

export interface OmittedFile {
  readonly file: string;
  readonly bytes: number;
}

export interface PatchPart {
  readonly text: string;
  readonly escaped: boolean;
  readonly totalBytes: number;
  readonly files: number;
  /** The file that the page goes on with in its middle. */
  readonly continues: string | undefined;
  /** Files of which something comes after the page, with their size in bytes; at most 100. */
  readonly omitted: readonly OmittedFile[];
  readonly omittedFiles: number;
  readonly next: PatchPosition | undefined;
}

interface Section {
  readonly start: number;
  header: string[];
  isHeader: boolean;
}

/** Takes a patch as it streams by and keeps one page of it; all else is counted, and named file by file. */
export class PatchPage {
  readonly #from: PatchPosition;
  readonly #maxBytes: number;
  readonly #before: Hash = createHash('sha256');
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #total = 0;
  #files = 0;
  #section: Section | undefined;
  #continues: string | undefined;
  readonly #omitted: OmittedFile[] = [];
  #omittedFiles = 0;
  /** Start of the line that is not yet complete, and its beginning as far as it matters. */
  #lineStart = 0;
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** Borders in the patch up to which a page may go: the last of a file or hunk, and of a line. */
  #border = 0;
  /** The first border that is beyond the page. */
  #nextBorder: number | undefined;
  #lineBorder = 0;

  constructor(from: PatchPosition, maxBytes: number) {
    this.#from = from;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#keep(chunk);
    let start = 0;
    for (;;) {
      start = this.#skipContent(chunk, start);
      const end = chunk.indexOf(NEW_LINE, start);
      if (end < 0) break;
      this.#piece(chunk.subarray(start, end));
      this.#endLine(this.#total + end + 1);
      start = end + 1;
    }
    this.#piece(chunk.subarray(start));
    this.#total += chunk.length;
  }

  /** Where there is nothing to learn but the next file: most of a large patch is passed over by one search. */
  #skipContent(chunk: Buffer, start: number): number {
    const isBeside = this.#nextBorder !== undefined || this.#total + chunk.length <= this.#from.offset;
    if (!isBeside || this.#lineBytes > 0 || this.#section?.isHeader !== false) return start;
    if (chunk[start] === FILE_START.charCodeAt(0)) return start;
    const file = chunk.indexOf(NEXT_FILE, start);
    const next = file >= 0 ? file + 1 : chunk.lastIndexOf(NEW_LINE) + 1;
    if (next <= start) return start;
    this.#lineStart = this.#total + next;
    return next;
  }

  /** Throws INVALID_ARGUMENTS when the patch is not the one that the position is of. */
  finish(): PatchPart {
    if (this.#lineBytes > 0) this.#endLine(this.#total);
    this.#endSection(this.#total);
    const { offset } = this.#from;
    if (offset > this.#total || (offset > 0 && this.#markOf(this.#before) !== this.#from.mark)) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'The cursor is of another diff: the files have changed since.',
        'Call again without the cursor.',
      );
    }
    const end = this.#pageEnd();
    const bytes = Buffer.concat(this.#kept).subarray(0, end - offset);
    const { text, escaped } = shownBytes(bytes);
    this.#kept = [];
    return {
      text,
      escaped,
      totalBytes: this.#total,
      files: this.#files,
      continues: this.#continues,
      omitted: this.#omitted,
      omittedFiles: this.#omittedFiles,
      next:
        end >= this.#total
          ? undefined
          : { offset: end, mark: this.#markOf(this.#before.copy().update(bytes)) },
    };
  }

  /**
   * The last border of a file or hunk that fits; but what would fill more than a page also after it is cut at a line, or,
   * a line of that size, where the page is full.
   */
  #pageEnd(): number {
    const { offset } = this.#from;
    if (this.#total <= offset + this.#maxBytes) return this.#total;
    const nextBorder = this.#nextBorder ?? this.#total;
    if (this.#border > offset && nextBorder - this.#border <= this.#maxBytes) return this.#border;
    if (this.#lineBorder > offset) return this.#lineBorder;
    const full = Buffer.concat(this.#kept).subarray(0, this.#maxBytes);
    return offset + wholeCharacters(full);
  }

  #keep(chunk: Buffer): void {
    const { offset } = this.#from;
    const skip = Math.min(chunk.length, Math.max(0, offset - this.#total));
    if (skip > 0) this.#before.update(chunk.subarray(0, skip));
    const room = this.#maxBytes - this.#keptBytes;
    const part = chunk.subarray(skip, skip + Math.max(0, room));
    if (part.length === 0) return;
    // A copy: a slice would hold the whole chunk.
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }

  #piece(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const room = MAX_HEADER_LINE_BYTES - this.#lineBytes;
    if (room > 0) this.#line.push(bytes.subarray(0, room));
    this.#lineBytes += bytes.length;
  }

  /** `end` is behind the line's new line. */
  #endLine(end: number): void {
    const [only] = this.#line;
    const first = only?.[0];
    const start = this.#lineStart;
    this.#lineStart = end;
    // Lines of content begin with a space, a sign or a backslash: nothing that is changed can look like a border.
    if (first === 0x64 /* d */ && this.#text(FILE_START.length) === FILE_START) {
      this.#endSection(start);
      this.#markBorder(start);
      this.#section = { start, header: [this.#text()], isHeader: true };
      this.#files++;
    } else if (first === 0x40 /* @ */) {
      // The first hunk belongs to the lines above it.
      if (this.#section?.isHeader !== true) this.#markBorder(start);
      else this.#section.isHeader = false;
    } else if (this.#section?.isHeader === true && this.#section.header.length < MAX_HEADER_LINES) {
      this.#section.header.push(this.#text());
    }
    if (this.#within(start)) this.#lineBorder = start;
    this.#line = [];
    this.#lineBytes = 0;
  }

  #markBorder(at: number): void {
    if (this.#within(at)) this.#border = at;
    else this.#nextBorder ??= at;
  }

  #within(at: number): boolean {
    return at <= this.#from.offset + this.#maxBytes;
  }

  #endSection(end: number): void {
    const section = this.#section;
    this.#section = undefined;
    if (section === undefined || end <= this.#from.offset) return;
    const name = patchName(section.header);
    const file = name === undefined ? '' : shownBytes(name).text;
    const { offset } = this.#from;
    if (section.start < offset) this.#continues = file;
    // Its end is a border: what ends within a page's size is on the page.
    if (this.#within(end)) return;
    this.#omittedFiles++;
    if (this.#omitted.length < MAX_NAMED_FILES) this.#omitted.push({ file, bytes: end - section.start });
  }

  #text(maxChars?: number): string {
    return Buffer.concat(this.#line).toString('latin1', 0, maxChars);
  }

  #markOf(hash: Hash): string {
    return hash.copy().digest('hex').slice(0, MARK_CHARS);
  }
}

/** Length without the beginning of a character of UTF-8 at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back < bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
