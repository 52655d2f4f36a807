// Pure: a patch and its pages.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { cursorText, readCursor } from '../../base/input.js';
import { wholeUtf8End } from '../../base/text.js';
import { patchName, shownBytes } from './patch-text.js';

/** The rest of a larger patch is only counted and is on no page. */
const MAX_BYTES = 16_000_000;
/** Limit for all patches that are cached together. */
const MAX_CACHED_BYTES = 32_000_000;
/** Characters of the hash, enough to distinguish patches. */
const HASH_CHARS = 16;
/** Limits of the lines above the first hunk in which the file name is searched. */
const MAX_HEADER_LINES = 12;
const MAX_HEADER_BYTES = 65_536;
/** Omitted files that are named; the rest is only counted. */
const MAX_NAMED_FILES = 100;
const NEW_LINE = 0x0a;
// Lines of content begin with a space, a sign or a backslash, so changed content never looks like a border.
const NEXT_FILE = '\ndiff ';
const NEXT_HUNK = '\n@@';

/** Start of a page: a byte offset in the patch with this hash, called `mark` in cursors, of this commit. */
export const positionSchema = z.strictObject({
  offset: z.int().min(0),
  mark: z.string().max(64),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
});
type Position = z.infer<typeof positionSchema>;

/** A file in a patch. Offsets in bytes: of its header, of its first hunk (its end when it has none), and of its end. */
export interface Section {
  readonly file: string;
  readonly start: number;
  readonly hunks: number;
  readonly end: number;
}

/** A whole patch, with an index for its pages. */
export interface Patch {
  /** At most 16 MB; `totalBytes` counts all. */
  readonly bytes: Buffer;
  readonly totalBytes: number;
  /** The files that begin in `bytes`. */
  readonly sections: readonly Section[];
  /** Sorted offsets at which files and hunks begin, except the first hunk of each file, which stays with its header. */
  readonly borders: readonly number[];
  /** Identifies this patch. */
  readonly hash: string;
}

/** A page of a patch. */
export interface Changes {
  readonly text: string;
  readonly escaped: boolean;
  readonly totalBytes: number;
  /** Files that begin in the first 16 MB. */
  readonly files: number;
  /** The file in whose middle the page begins. */
  readonly continues: string | undefined;
  /** Files that continue or begin after the page, with their size in bytes; at most 100. */
  readonly omitted: readonly { readonly file: string; readonly bytes: number }[];
  readonly omittedFiles: number;
  /** Bytes at the end of the patch that are on no page. */
  readonly leftOutBytes: number;
  /** Cursor of this page itself, to request it again in another size. */
  readonly here: string;
  /** Cursor of the next page. */
  readonly cursor: string | undefined;
}

/** Builds a patch from a stream. */
export class PatchReader {
  readonly #hash = createHash('sha256');
  readonly #chunks: Buffer[] = [];
  #stored = 0;
  #total = 0;

  push(chunk: Buffer): void {
    this.#hash.update(chunk);
    const part = chunk.subarray(0, Math.max(0, MAX_BYTES - this.#stored));
    if (part.length > 0) this.#chunks.push(part);
    this.#stored += part.length;
    this.#total += chunk.length;
  }

  finish(): Patch {
    const bytes = Buffer.concat(this.#chunks);
    const starts = [...(bytes.length > 0 ? [0] : []), ...offsetsOf(bytes, NEXT_FILE)];
    const hunks = offsetsOf(bytes, NEXT_HUNK);
    const borders = new Set(starts);
    let at = 0;
    const sections = starts.map((start, index) => {
      const end = starts[index + 1] ?? this.#total;
      const first = Math.min(hunks[at] ?? end, end);
      for (at++; (hunks[at] ?? end) < end; at++) borders.add(hunks[at] ?? end);
      if (first === end) at--;
      return { file: fileOf(bytes.subarray(start, first)), start, hunks: first, end };
    });
    const hash = this.#hash.digest('hex').slice(0, HASH_CHARS);
    return { bytes, totalBytes: this.#total, sections, borders: [...borders].sort((a, b) => a - b), hash };
  }
}

/** The name in the lines above the first hunk; empty when they contain none. */
function fileOf(header: Buffer): string {
  const name = patchName(header.toString('latin1', 0, MAX_HEADER_BYTES).split('\n', MAX_HEADER_LINES));
  return name === undefined ? '' : shownBytes(name).text;
}

/** Offsets of the lines that begin with `text`, except the first line. `text` begins with a line end. */
function offsetsOf(bytes: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found.push(at + 1);
  return found;
}

/** The page of a patch from a position on. Throws INVALID_ARGUMENTS when `from` belongs to another one. */
export function patchPage(
  patch: Patch,
  { from, maxBytes, commit }: { from: Position | undefined; maxBytes: number; commit?: string | undefined },
): Changes {
  const { bytes, totalBytes, sections, hash } = patch;
  const offset = from?.offset ?? 0;
  if ((from !== undefined && from.mark !== hash) || offset > bytes.length)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'The cursor belongs to another diff: the files have changed since.',
      'Begin again without the cursor.',
    );
  const end = pageEnd(patch, offset, maxBytes);
  const left = sections.filter((section) => section.end > end);
  const cursorAt = (at: number): string => cursorText({ offset: at, mark: hash, commit });
  return {
    ...shownBytes(bytes.subarray(offset, end)),
    totalBytes,
    files: sections.length,
    continues: sections.find((section) => section.start < offset && offset < section.end)?.file,
    omitted: left.slice(0, MAX_NAMED_FILES).map((one) => ({ file: one.file, bytes: one.end - one.start })),
    omittedFiles: left.length,
    leftOutBytes: totalBytes - bytes.length,
    here: cursorAt(offset),
    cursor: end < bytes.length ? cursorAt(end) : undefined,
  };
}

/**
 * The last border of a file or hunk that fits. A file or hunk that is larger than a page is cut after a line, and a line that
 * is larger than a page is cut where the page is full.
 */
function pageEnd({ bytes, borders }: Patch, offset: number, maxBytes: number): number {
  const full = offset + maxBytes;
  if (bytes.length <= full) return bytes.length;
  const border = borders.findLast((one) => one <= full) ?? 0;
  const next = borders.find((one) => one > full) ?? bytes.length;
  if (border > offset && next - border <= maxBytes) return border;
  const line = bytes.lastIndexOf(NEW_LINE, full - 1) + 1;
  return line > offset ? line : offset + wholeUtf8End(bytes.subarray(offset, full));
}

/** A patch, and what it was read with; `commit`: the one whose patch it is. */
interface Kept<Facts> {
  readonly patch: Patch;
  readonly facts: Facts;
}

/**
 * The pages of patches. Recent ones are cached with their facts, so that all pages of one show the same state of the files and git runs
 * only once; also after the last page, which may be requested again in a smaller size.
 */
export class PatchPages<Facts extends { readonly commit?: string }> {
  readonly #kept = new Map<string, Kept<Facts>>();

  /**
   * A page of the patch that `read` gives for `query`, from the position of the cursor on. Throws INVALID_ARGUMENTS for a bad or
   * outdated cursor, and what `read` throws.
   */
  async page(
    query: unknown,
    { cursor, maxBytes }: { readonly cursor: string | undefined; readonly maxBytes: () => number },
    read: (from: Position | undefined) => Promise<Kept<Facts>>,
  ): Promise<{ readonly facts: Facts; readonly page: Changes }> {
    const from = cursor === undefined ? undefined : readCursor(positionSchema, cursor);
    const keyOf = (hash: string, commit: string | undefined): string => JSON.stringify([hash, commit, query]);
    const known = from && this.#kept.get(keyOf(from.mark, from.commit));
    const found = known ?? (await read(from));
    const { patch, facts } = found;
    const page = patchPage(patch, { from, maxBytes: maxBytes(), commit: facts.commit });
    const key = keyOf(patch.hash, facts.commit);
    // A map has its keys in the order of their first use: this one is the latest now.
    this.#kept.delete(key);
    this.#kept.set(key, found);
    let bytes = 0;
    for (const [one, { patch: old }] of [...this.#kept].reverse()) {
      bytes += old.bytes.length;
      if (bytes > MAX_CACHED_BYTES && one !== key) this.#kept.delete(one);
    }
    return { facts, page };
  }
}
