import type { FileHandle } from 'node:fs/promises';
import { BridgeError, messageOf } from '../base/errors.js';
import { openRegularFile } from '../base/files/regular-file.js';
import { MAX_LINE_BYTES, parseJournalLine, type JournalEntry } from './journal-line.js';

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** The `afterSeq` of the next page. */
  readonly nextSeq: number;
  /** The journal has more entries. */
  readonly more: boolean;
  /** How many entries after `afterSeq` were dropped from the journal before this read. */
  readonly gone: number;
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 16 * 1024;
/** At this distance from the wanted line, reading on is cheaper than another probe. */
const NEAR_BYTES = 32 * 1024;
/** How many lines at the end may be unreadable (a disk error) before the search for the last number gives up. */
const MAX_UNREADABLE_LINES = 1_000;

/** The path of a journal's older half. */
export function olderJournal(path: string): string {
  return `${path}.1`;
}

/**
 * Returns the entries after number `afterSeq`, as many as fit into `maxBytes` of the file but at least one. Reads little more than
 * it returns, however long the journal is, and skips a last line that is still being written. A missing journal is empty. Throws
 * BridgeError STATE_UNUSABLE.
 */
export async function readJournal(
  path: string,
  { afterSeq, maxBytes }: { readonly afterSeq: number; readonly maxBytes: number },
): Promise<JournalPage> {
  const files: FileHandle[] = [];
  try {
    // The newer one first: if the writer rotates in between, the same file is found again under the older name.
    const newer = await openJournal(path, files);
    const older = await openJournal(olderJournal(path), files);
    const sources = [];
    if (older && !(newer && (await isSameFile(older, newer)))) sources.push(older);
    if (newer) sources.push(newer);
    return await readSources(sources, afterSeq, maxBytes);
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot read the journal ${path}: ${messageOf(error)}`,
      'Check that the state directory belongs to you, and that not too many files are open.',
      { cause: error },
    );
  } finally {
    for (const file of files) await file.close();
  }
}

/** The number of the last whole entry, and the offset at which the whole lines end. */
export async function lastSeqOf(
  file: FileHandle,
): Promise<{ readonly seq: number | undefined; readonly endOfLines: number }> {
  let end = await newlineBefore(file, (await file.stat()).size);
  const endOfLines = end + 1;
  for (let tries = 0; end >= 0 && tries < MAX_UNREADABLE_LINES; tries++) {
    const previous = await newlineBefore(file, end);
    const length = end - previous - 1;
    if (length > 0 && length <= MAX_LINE_BYTES) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, previous + 1);
      const entry = parseJournalLine(buffer.toString('utf8', 0, bytesRead));
      if (entry) return { seq: entry.seq, endOfLines };
    }
    end = previous;
  }
  return { seq: undefined, endOfLines };
}

async function readSources(
  sources: readonly FileHandle[],
  afterSeq: number,
  maxBytes: number,
): Promise<JournalPage> {
  const entries: JournalEntry[] = [];
  let bytes = 0;
  let oldest: number | undefined;
  const page = (more: boolean): JournalPage => ({
    entries,
    nextSeq: entries.at(-1)?.seq ?? afterSeq,
    more,
    gone: Math.max(0, (oldest ?? 0) - afterSeq - 1),
  });
  for (const file of sources) {
    const { size } = await file.stat();
    oldest ??= (await firstEntry(file, 0, size))?.entry.seq;
    const from = await nearOffset(file, size, afterSeq);
    for await (const line of linesFrom(file, from, size)) {
      const entry = parseJournalLine(line.text);
      // A line that is not an entry shows as a gap in the numbers.
      if (entry === undefined || entry.seq <= afterSeq) continue;
      bytes += line.end - line.start;
      if (entries.length > 0 && bytes > maxBytes) return page(true);
      entries.push(entry);
    }
  }
  return page(false);
}

/** Binary search for a line start shortly before the first entry after `afterSeq`. */
async function nearOffset(file: FileHandle, size: number, afterSeq: number): Promise<number> {
  let low = 0;
  let high = size;
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const probe = await firstEntry(file, middle, high);
    if (probe !== undefined && probe.entry.seq <= afterSeq) low = probe.end;
    else high = middle;
  }
  return low;
}

/** The first entry whose line starts after `from` (or at it, if that is 0) and before `to`. */
async function firstEntry(
  file: FileHandle,
  from: number,
  to: number,
): Promise<{ readonly entry: JournalEntry; readonly end: number } | undefined> {
  let isPart = from > 0;
  for await (const line of linesFrom(file, from, (await file.stat()).size)) {
    if (line.start >= to) return undefined;
    const entry = isPart ? undefined : parseJournalLine(line.text);
    if (entry) return { entry, end: line.end };
    isPart = false;
  }
  return undefined;
}

interface Line {
  readonly start: number;
  /** The offset after the newline. */
  readonly end: number;
  /** Empty for a line that is longer than MAX_LINE_BYTES. */
  readonly text: string;
}

/** The whole lines from an offset on; a last line without a newline is skipped. */
async function* linesFrom(file: FileHandle, from: number, size: number): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0);
  let start = from;
  let at = from;
  while (at < size) {
    const wanted = Math.min(CHUNK_BYTES, size - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    let used = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, used)) {
      const next = at + end + 1;
      const isOurs = next - start <= MAX_LINE_BYTES;
      yield {
        start,
        end: next,
        text: isOurs ? Buffer.concat([rest, chunk.subarray(used, end)]).toString('utf8') : '',
      };
      rest = Buffer.alloc(0);
      start = next;
      used = end + 1;
    }
    at += bytesRead;
    // No more is buffered of a line that is already too long.
    if (at - start <= MAX_LINE_BYTES) rest = Buffer.concat([rest, chunk.subarray(used)]);
  }
}

/** Offset of the last newline before `before`, or -1. */
async function newlineBefore(file: FileHandle, before: number): Promise<number> {
  for (let end = before; end > 0;) {
    const from = Math.max(0, end - CHUNK_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - from), 0, end - from, from);
    const found = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (found !== -1) return from + found;
    end = from;
  }
  return -1;
}

async function openJournal(path: string, files: FileHandle[]): Promise<FileHandle | undefined> {
  const opened = await openRegularFile(path);
  if (opened.state === 'missing') return undefined;
  if (opened.state === 'refused') throw new Error(`${path}: ${opened.why}`);
  files.push(opened.file);
  return opened.file;
}

async function isSameFile(a: FileHandle, b: FileHandle): Promise<boolean> {
  const [one, other] = await Promise.all([a.stat(), b.stat()]);
  return one.ino === other.ino && one.dev === other.dev;
}
