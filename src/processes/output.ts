import { rmSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { Emitter } from '../base/lifecycle.js';
import type { OutputStream } from '../pty/child.js';
import { AppendFile, type Parts } from '../store/append-file.js';
import type { OutputBytes } from './process-handle.js';

/** A part is never smaller: a piece that a program prints at once fits into it. */
const MIN_PART_BYTES = 256 * 1024;
/** To stay within the bound, the oldest of so many parts is dropped: seven eighths of it are always there. */
const PARTS = 8;

export interface OutputOptions {
  readonly folder: string;
  /** At most so much of each stream is stored on disk; of more the oldest is dropped. */
  readonly maxBytes: number;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Everything that one process prints, on disk. The name of each file, `<stream>.<offset>`, says at what byte of its stream it begins:
 * what is missing between two of them is known to every reader. A disk that fails costs what was printed meanwhile, and the process
 * goes on.
 */
export class ProcessOutput {
  readonly #options: OutputOptions;
  readonly #files = new Map<OutputStream, AppendFile>();
  readonly #printed = new Emitter<void>();

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Fires each time that something is printed. */
  get onPrinted() {
    return this.#printed.event;
  }

  /** The bytes are in the file when this returns, unless the disk fails. */
  write(stream: OutputStream, bytes: Uint8Array): void {
    (this.#files.get(stream) ?? this.#open(stream)).write(bytes);
    this.#printed.fire();
  }

  get bytes(): OutputBytes {
    return Object.fromEntries([...this.#files].map(([stream, file]) => [stream, file.endBytes]));
  }

  /** Writes out and closes the files; what is printed later opens them again. */
  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }

  #open(stream: OutputStream): AppendFile {
    const { folder, maxBytes, onError } = this.#options;
    const partBytes = Math.max(MIN_PART_BYTES, Math.floor(maxBytes / PARTS));
    const starts: number[] = [];
    const begin = (offset: number): string => {
      for (
        let [first] = starts;
        first !== undefined && offset - first + partBytes > maxBytes;
        [first] = starts
      ) {
        rmSync(segmentPath(folder, stream, first), { force: true });
        starts.shift();
      }
      starts.push(offset);
      return segmentPath(folder, stream, offset);
    };
    const parts: Parts = { partBytes, last: { path: '', size: 0 }, endsAtGap: true, begin };
    const file = new AppendFile({ parts, keptBytes: 0, onError });
    this.#files.set(stream, file);
    return file;
  }
}

/** A file with a part of a stream. */
interface Segment {
  readonly path: string;
  readonly start: number;
  /** Offset behind its last byte. */
  readonly end: number;
}

function segmentPath(folder: string, stream: OutputStream, start: number): string {
  return join(folder, `${stream}.${start}`);
}

/** Which bytes of a stream can be read. */
export interface Extent {
  /** Offset of the oldest byte that is stored. */
  readonly start: number;
  /** Offset behind the newest. */
  readonly end: number;
  /** Bytes before and between what is stored: dropped to keep the bound, or refused by the disk. */
  readonly missingBytes: number;
}

/** Reads a stream from its files, while it is written or later, in this process or another. */
export class OutputReader {
  readonly #folder: string;
  readonly #stream: OutputStream;

  constructor(folder: string, stream: OutputStream) {
    this.#folder = folder;
    this.#stream = stream;
  }

  async extent(): Promise<Extent> {
    const segments = await this.#segments();
    const kept = segments.reduce((sum, { start, end }) => sum + end - start, 0);
    const end = segments.at(-1)?.end ?? 0;
    return { start: segments[0]?.start ?? end, end, missingBytes: end - kept };
  }

  /** Up to `maxBytes` from the offset on, or from the next byte that is stored, `from`; less where something is missing. */
  async read(offset: number, maxBytes: number): Promise<{ readonly from: number; readonly bytes: Buffer }> {
    const segments = (await this.#segments()).filter(({ end }) => end > offset);
    const from = Math.max(offset, segments[0]?.start ?? offset);
    const pieces: Buffer[] = [];
    let at = from;
    for (const { path, start, end } of segments) {
      const length = Math.min(end, from + maxBytes) - at;
      if (start > at || length <= 0) break;
      const piece = await unlessGone(readAt(path, at - start, length));
      // Removed meanwhile, as the oldest: what follows it is read instead.
      if (piece === undefined && pieces.length === 0) return this.read(end, maxBytes);
      if (piece === undefined) break;
      pieces.push(piece);
      at += piece.length;
    }
    return { from, bytes: Buffer.concat(pieces) };
  }

  /** The kept parts, oldest first; none while nothing was printed. What lies between two of them is lost. */
  async #segments(): Promise<Segment[]> {
    const names = (await unlessGone(readdir(this.#folder))) ?? [];
    const starts = names
      .filter((name) => name.startsWith(`${this.#stream}.`))
      .map((name) => Number(name.slice(this.#stream.length + 1)))
      .filter((start) => Number.isSafeInteger(start))
      .sort((a, b) => a - b);
    const segments = await Promise.all(
      starts.map(async (start, index) => {
        const path = segmentPath(this.#folder, this.#stream, start);
        const facts = await unlessGone(stat(path));
        const next = starts[index + 1] ?? Infinity;
        return facts === undefined ? [] : [{ path, start, end: Math.min(start + facts.size, next) }];
      }),
    );
    return segments.flat();
  }
}

async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Undefined for a file or folder that was never made, or was removed meanwhile. */
export async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
