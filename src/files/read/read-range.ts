import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { countOf, oneLine } from '../../base/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { LineScan } from './line-scan.js';
import { binaryFile, sampledEncoding } from './read-page.js';
import { readLines } from './read-lines.js';
import { misreadNote } from './text-encoding.js';

/** Bytes that are read beyond the range to count all lines of the file, in about 10 ms. */
const TOTAL_BYTES = 16_777_216;
/** A call must answer within 45 s; in this time even a slow disk reads a few GB. */
const SCAN_LIMIT_MS = 20_000;
const SHOWN_CHARS = 400;

export interface RangeQuery {
  readonly startLine: number;
  /** Inclusive. */
  readonly endLine: number;
  /** Maximum size of the content in bytes of UTF-8. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface FileRange {
  readonly path: string;
  readonly startLine: number;
  /** The last returned line, or the last of the file when the range begins after it. */
  readonly endLine: number;
  readonly note?: string;
  /** The lines, without the line end of the last one. */
  readonly content: string;
  /** Null when too much of the file follows to count its lines. */
  readonly totalLines: number | null;
  /** True when not all lines of the range are returned. */
  readonly truncated: boolean;
}

/**
 * Reads a range of lines of a text file of any size, in bounded memory; the lines before it are counted each time. Throws
 * BINARY_FILE, INVALID_ARGUMENTS, FILE_TOO_LARGE.
 */
export async function readRange(opened: OpenedPath, query: RangeQuery, clock: Clock): Promise<FileRange> {
  const { startLine, endLine, signal } = query;
  if (endLine < startLine) {
    const message = `end_line ${endLine} is before start_line ${startLine}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Give an end_line of at least start_line.');
  }
  const { handle } = opened;
  const size = Number(opened.stats.size);
  const encoding = await sampledEncoding(opened);
  const scan = new LineScan(handle, size, encoding, startLine);
  const startedMs = clock.monotonicMs();
  const check = (): void => {
    signal.throwIfAborted();
    if (clock.monotonicMs() - startedMs > SCAN_LIMIT_MS) throw tooLarge(opened.path, startLine, scan);
  };
  await scan.scan(() => {
    check();
    return scan.newlines >= startLine - 1;
  });
  if (scan.left <= TOTAL_BYTES) await scan.scan(() => (check(), false));
  const totalLines = await scan.lines();
  if (totalLines !== null && startLine > totalLines) {
    const note = `The file has ${countOf(totalLines)} ${totalLines === 1 ? 'line' : 'lines'}: none at ${startLine} or after it.`;
    return {
      path: opened.path,
      startLine,
      endLine: totalLines,
      note,
      content: '',
      totalLines,
      truncated: false,
    };
  }
  const { lines, end, isBinary, isMisread } = await readLines(handle, {
    start: scan.start,
    startLine,
    endLine,
    encoding,
    size,
    maxBytes: query.maxBytes,
    check,
  });
  if (isBinary) throw binaryFile(opened.path);
  return {
    path: opened.path,
    startLine,
    endLine: startLine + lines.length - 1,
    ...(isMisread ? { note: misreadNote(encoding) } : {}),
    content: lines.join('').replace(/\r?\n$/, ''),
    totalLines,
    truncated: end === 'full',
  };
}

function tooLarge(path: string, line: number, scan: LineScan): BridgeError {
  return new BridgeError(
    'FILE_TOO_LARGE',
    `Line ${line} of '${oneLine(path, SHOWN_CHARS)}' was not reached within ${SCAN_LIMIT_MS / 1_000} s; ${scan.newlines} lines were scanned.`,
    'Read lines nearer to the beginning, or search for what you need with search_files.',
  );
}
