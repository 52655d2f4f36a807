// Pure: cuts one page of a patch.
import { wholeUtf8End } from '../../base/text.js';
import type { Patch } from './patch.js';
import { shownBytes } from './shown-bytes.js';

/** Omitted files that are named; the rest is only counted. */
const MAX_NAMED_FILES = 100;
const NEW_LINE = 0x0a;

interface OmittedFile {
  readonly file: string;
  readonly bytes: number;
}

export interface PatchPart {
  readonly text: string;
  readonly escaped: boolean;
  readonly totalBytes: number;
  readonly files: number;
  /** The file in whose middle the page begins. */
  readonly continues: string | undefined;
  /** Files that continue or begin after the page, with their size in bytes; at most 100. */
  readonly omitted: readonly OmittedFile[];
  readonly omittedFiles: number;
  /** Bytes at the end of the patch that are on no page. */
  readonly leftOutBytes: number;
  /** Offset of the next page. */
  readonly next: number | undefined;
}

/** The page that begins at byte `offset`. */
export function patchPage(patch: Patch, offset: number, maxBytes: number): PatchPart {
  const { bytes, totalBytes, files, sections } = patch;
  const end = pageEnd(patch, offset, maxBytes);
  const { text, escaped } = shownBytes(bytes.subarray(offset, end));
  const left = sections.filter((section) => section.end > end);
  return {
    text,
    escaped,
    totalBytes,
    files,
    continues: sections.find((section) => section.start < offset && offset < section.end)?.file,
    omitted: left
      .slice(0, MAX_NAMED_FILES)
      .map(({ file, start, end: sectionEnd }) => ({ file, bytes: sectionEnd - start })),
    omittedFiles: left.length + files - sections.length,
    leftOutBytes: totalBytes - bytes.length,
    next: end < bytes.length ? end : undefined,
  };
}

/**
 * The last border of a file or hunk that fits. A file or hunk that is larger than a page is cut after a line, and a line that
 * is larger than a page is cut where the page is full.
 */
function pageEnd({ bytes, borders }: Patch, offset: number, maxBytes: number): number {
  const full = offset + maxBytes;
  if (bytes.length <= full) return bytes.length;
  const next = firstAfter(borders, full);
  const border = borders[next - 1] ?? 0;
  if (border > offset && (borders[next] ?? bytes.length) - border <= maxBytes) return border;
  const line = bytes.lastIndexOf(NEW_LINE, full - 1) + 1;
  return line > offset ? line : offset + wholeUtf8End(bytes.subarray(offset, full));
}

/** The index of the first of the sorted `borders` that is greater than `at`. */
function firstAfter(borders: readonly number[], at: number): number {
  let low = 0;
  let high = borders.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((borders[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
