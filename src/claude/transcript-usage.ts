import { openRegularFile } from '../base/files/regular-file.js';
import { parseTranscriptLine } from './transcript-entry.js';
import { UsageTotals, type ModelUsage } from './usage-totals.js';

const READ_BYTES = 256 * 1024;
/** A longer line holds a pasted file or an image, and no tokens. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A larger transcript is read up to this size, and the result says so. */
const MAX_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Adds up the tokens in transcripts since `sinceMs` (milliseconds since the epoch): a session that continues another begins with a copy
 * of it. `signal` stops the reading early. `isWhole` is false when something was skipped: a too long line, or the rest after the limit
 * or the abort.
 */
export async function readUsage(
  paths: readonly string[],
  sinceMs: number,
  signal: AbortSignal,
): Promise<{ readonly usage: ReadonlyMap<string, ModelUsage>; readonly isWhole: boolean }> {
  const totals = new UsageTotals();
  let isWhole = true;
  for (const path of paths) {
    const isRead = await readLines(path, signal, (line) => {
      // Most lines are of other kinds, and parsing all of them would take ten times as long.
      if (!line.includes('"type":"assistant"')) return;
      const entry = parseTranscriptLine(line.toString('utf8'));
      if (entry?.kind !== 'assistant' || entry.atMs < sinceMs || entry.usage === undefined) return;
      totals.add(entry.messageId, entry.model, entry.usage);
    });
    isWhole &&= isRead;
  }
  return { usage: totals.byModel, isWhole };
}

/** True when the whole file was read; a missing file counts as read. */
async function readLines(path: string, signal: AbortSignal, take: (line: Buffer) => void): Promise<boolean> {
  const opened = await openRegularFile(path);
  if (opened.state !== 'open') return opened.state === 'missing';
  const { file } = opened;
  try {
    let rest: Buffer[] = [];
    let restBytes = 0;
    let isWhole = true;
    for (let at = 0; ;) {
      if (signal.aborted || at >= MAX_BYTES) return false;
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, at);
      if (bytesRead === 0) return isWhole;
      at += bytesRead;
      const chunk = buffer.subarray(0, bytesRead);
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        const last = chunk.subarray(from, end);
        if (restBytes + last.length > MAX_LINE_BYTES) isWhole = false;
        else take(rest.length === 0 ? last : Buffer.concat([...rest, last]));
        rest = [];
        restBytes = 0;
        from = end + 1;
      }
      restBytes += bytesRead - from;
      // No more is buffered of a line that is too long.
      if (restBytes > MAX_LINE_BYTES) rest = [];
      else rest.push(chunk.subarray(from));
    }
  } finally {
    await file.close();
  }
}
