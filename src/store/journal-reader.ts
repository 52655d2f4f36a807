import type { FileHandle } from 'node:fs/promises';
import { BridgeError, messageOf } from '../base/errors.js';
import { MAX_LINE_BYTES, parseJournalLine, type JournalEntry } from './journal-line.js';
import { readAt, withPair, type OpenFile } from './pages.js';

const NEWLINE = 0x0a;
/** At this distance from the wanted line, reading on is cheaper than another probe. */
const NEAR_BYTES = 32 * 1024;

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** The `afterSeq` of the next page. */
  readonly nextSeq: number;
  /** The journal has more entries. */
  readonly more: boolean;
  /** How many entries after `afterSeq` were dropped from the journal before this read. */
  readonly gone: number;
}

/**
 * Returns the entries after number `afterSeq`, as many as fit into `maxBytes` of the file but at least one. Reads little more than
 * it returns, however long the journal is, and skips a last line that is still being written. A missing journal is empty. Throws
 * BridgeError STATE_UNUSABLE.
 */
export async function readJournal(
  path: string,
  query: { readonly afterSeq: number; readonly maxBytes: number },
): Promise<JournalPage> {
  try {
    return await withPair(path, (files) => journalPage(files, query));
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot read the journal ${path}: ${messageOf(error)}`,
      'Check that the state directory belongs to you, and that not too many files are open.',
      { cause: error },
    );
  }
}

/** The number of the last whole entry, and the offset at which the whole lines end. */
export async function lastSeqOf(
  file: FileHandle,
): Promise<{ readonly seq: number | undefined; readonly endOfLines: number }> {
  const { size } = await file.stat();
  let seq: number | undefined;
  let endOfLines = await lineBefore(file, size, Infinity);
  for await (const line of linesFrom(file, endOfLines, size)) {
    seq = parseJournalLine(line.text)?.seq ?? seq;
    endOfLines = line.end;
  }
  return { seq, endOfLines };
}

async function journalPage(
  files: readonly OpenFile[],
  { afterSeq, maxBytes }: { readonly afterSeq: number; readonly maxBytes: number },
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
  for (const { file, size } of files) {
    oldest ??= (await firstEntry(file, 0, size))?.seq;
    for await (const line of linesFrom(file, await lineBefore(file, size, afterSeq), size)) {
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

/** Binary search for the start of a line, shortly before the first entry after `afterSeq`. */
async function lineBefore(file: FileHandle, size: number, afterSeq: number): Promise<number> {
  let low = 0;
  let high = size;
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const probe = await firstEntry(file, middle, high);
    if (probe !== undefined && probe.seq <= afterSeq) low = probe.start;
    else high = middle;
  }
  return low;
}

/** The first entry whose line starts after `from` (or at it, if that is 0) and before `to`. */
async function firstEntry(
  file: FileHandle,
  from: number,
  to: number,
): Promise<{ readonly seq: number; readonly start: number } | undefined> {
  let isPart = from > 0;
  for await (const { start, text } of linesFrom(file, from, (await file.stat()).size)) {
    if (start >= to) return undefined;
    const entry = isPart ? undefined : parseJournalLine(text);
    if (entry) return { seq: entry.seq, start };
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
  let start = from;
  for (let at = from; at < size;) {
    const chunk = await readAt(file, at, Math.min(MAX_LINE_BYTES, size - at));
    let used = 0;
    for (let feed = chunk.indexOf(NEWLINE); feed !== -1; feed = chunk.indexOf(NEWLINE, used)) {
      // A line that began before this chunk is too long.
      const text = start < at ? '' : chunk.toString('utf8', used, feed);
      used = feed + 1;
      yield { start, end: at + used, text };
      start = at + used;
    }
    if (used === 0 && chunk.length < MAX_LINE_BYTES) return;
    // What was left of a line is read again, whole.
    at += used === 0 ? chunk.length : used;
  }
}
