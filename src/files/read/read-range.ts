import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { OpenedPath } from '../../projects/opened-path.js';
import { indexOf, linesOf } from './count-lines.js';
import type { FileFactsCache } from './file-facts.js';
import type { LineIndex } from './line-index.js';
import { binaryFile, sampledEncoding } from './read-page.js';
import { readLines } from './read-lines.js';

/** So much is read beyond what was asked for to tell how many lines there are: some 10 ms. */
const TOTAL_BYTES = 16_777_216;
/** A call must answer within 45 s; a slow disk has read a few GB by then. */
const SCAN_LIMIT_MS = 20_000;
const SHOWN_CHARS = 400;

export interface RangeQuery {
  readonly startLine: number;
  /** Inclusive. */
  readonly endLine: number;
  /** Size of the content, bytes in UTF-8. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface FileRange {
  readonly path: string;
  readonly startLine: number;
  /** The last line given, or the last of the file when the range lies behind it. */
  readonly endLine: number;
  /** Lines as they are, without the end of the last one. */
  readonly content: string;
  /** Null when the file goes on too far to count. */
  readonly totalLines: number | null;
  /** True when fewer lines are given than the range has. */
  readonly truncated: boolean;
}

/**
 * Lines of a text file of any size. Memory is bounded; what was read to find a line is remembered in a sparse index, so that
 * the next range of the unchanged file is found at once. Throws BINARY_FILE, INVALID_ARGUMENTS, FILE_TOO_LARGE.
 */
export async function readRange(
  opened: OpenedPath,
  query: RangeQuery,
  { cache, clock }: { readonly cache: FileFactsCache; readonly clock: Clock },
): Promise<FileRange> {
  const { startLine, endLine, signal } = query;
  if (endLine < startLine) {
    const message = `end_line ${endLine} is before start_line ${startLine}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Give an end_line of at least start_line.');
  }
  const index = await indexOf(opened, cache, () => sampledEncoding(opened));
  const { handle } = opened;
  const startedMs = clock.monotonicMs();
  const check = (): void => {
    signal.throwIfAborted();
    if (clock.monotonicMs() - startedMs > SCAN_LIMIT_MS) throw tooLarge(opened.path, startLine, index);
  };
  await index.scan(handle, () => {
    check();
    return index.newlines >= startLine - 1;
  });
  if (index.size - index.scannedBytes <= TOTAL_BYTES) await index.scan(handle, () => (check(), false));
  const totalLines = await linesOf(opened, index);
  if (totalLines !== null && startLine > totalLines)
    return { path: opened.path, startLine, endLine: totalLines, content: '', totalLines, truncated: false };

  const { lines, end, isBinary } = await readLines(handle, {
    place: index.placeOf(startLine),
    startLine,
    endLine,
    encoding: index.encoding,
    size: index.size,
    maxBytes: query.maxBytes,
    check,
  });
  if (isBinary) throw binaryFile(opened.path);
  return {
    path: opened.path,
    startLine,
    endLine: startLine + lines.length - 1,
    content: lines.join('').replace(/\r?\n$/, ''),
    totalLines,
    truncated: end === 'full',
  };
}

function tooLarge(path: string, line: number, index: LineIndex): BridgeError {
  return new BridgeError(
    'FILE_TOO_LARGE',
    `Line ${line} of '${oneLine(path, SHOWN_CHARS)}' was not reached in ${SCAN_LIMIT_MS / 1_000} s; ${index.newlines} lines were passed.`,
    'Call again: it goes on from there, as long as the file is not changed.',
  );
}
