import type { FileHandle } from 'node:fs/promises';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;
/** Longer lines are left out: an event has at most some 400 KB, and a screen that begins a part a few MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface Line {
  /** Where it begins in the file, and where the next one does. */
  readonly start: number;
  readonly end: number;
  /** Empty for a line that is too long. */
  readonly text: string;
}

/** The whole lines of a file from an offset on, some at a time; a last line without its line break is not one yet. */
export async function* wholeLines(file: FileHandle, from: number): AsyncGenerator<readonly Line[]> {
  let rest: Buffer[] = [];
  let start = from;
  for (let at = from; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    const lines: Line[] = [];
    let used = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, used)) {
      const next = at + end + 1;
      const isOurs = next - start <= MAX_LINE_BYTES;
      lines.push({ start, end: next, text: isOurs ? textOf(rest, chunk, used, end) : '' });
      rest = [];
      start = next;
      used = end + 1;
    }
    at += bytesRead;
    if (at - start <= MAX_LINE_BYTES) rest.push(chunk.subarray(used));
    else rest = [];
    if (lines.length > 0) yield lines;
  }
}

/** Most lines lie in one chunk. */
function textOf(rest: readonly Buffer[], chunk: Buffer, from: number, to: number): string {
  if (rest.length === 0) return chunk.toString('utf8', from, to);
  return Buffer.concat([...rest, chunk.subarray(from, to)]).toString('utf8');
}
