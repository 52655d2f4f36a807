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
    for (const name of [path, `${path}.1`]) {
      const opened = await openRegularFile(name);
      if (opened.state === 'refused') throw new Error(`${name}: ${opened.why}`);
      if (opened.state === 'open') files.unshift(opened.file);
    }
    const [older, newer] = await Promise.all(files.map((file) => file.stat()));
    const isSame = older?.ino === newer?.ino && older?.dev === newer?.dev;
    return await readSources(isSame ? files.slice(0, 1) : files, afterSeq, maxBytes);
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
  const { size } = await file.stat();
  let { seq, offset } = await near(file, size, Infinity);
  for await (const line of linesFrom(file, offset, size)) {
    seq = parseJournalLine(line.text)?.seq ?? seq;
    offset = line.end;
  }
  return { seq, endOfLines: offset };
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
    const { offset } = await near(file, size, afterSeq);
    for await (const line of linesFrom(file, offset, size)) {
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

/** Binary search for a line start shortly before the first entry after `afterSeq`; `seq` is the entry before it, if one was read. */
async function near(
  file: FileHandle,
  size: number,
  afterSeq: number,
): Promise<{ seq: number | undefined; offset: number }> {
  let seq: number | undefined;
  let low = 0;
  let high = size;
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const probe = await firstEntry(file, middle, high);
    if (probe !== undefined && probe.entry.seq <= afterSeq) {
      low = probe.end;
      seq = probe.entry.seq;
    } else high = middle;
  }
  return { seq, offset: low };
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
    for (let feed = chunk.indexOf(NEWLINE); feed !== -1; feed = chunk.indexOf(NEWLINE, used)) {
      const end = at + feed + 1;
      const isShort = end - start <= MAX_LINE_BYTES;
      const text = isShort ? Buffer.concat([rest, chunk.subarray(used, feed)]).toString('utf8') : '';
      yield { start, end, text };
      rest = Buffer.alloc(0);
      start = end;
      used = feed + 1;
    }
    at += bytesRead;
    // No more is buffered of a line that is already too long.
    if (at - start <= MAX_LINE_BYTES) rest = Buffer.concat([rest, chunk.subarray(used)]);
  }
}
