import type { Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import type { OutputStream } from '../../pty/child.js';

/** A file with a part of a stream: `<stream>.<offset of its first byte>`. */
export interface Segment {
  readonly path: string;
  readonly start: number;
  /** Offset behind its last byte. */
  readonly end: number;
}

export function segmentPath(folder: string, stream: OutputStream, start: number): string {
  return join(folder, `${stream}.${start}`);
}

/** The kept parts of a stream, oldest first; none while nothing was printed. What lies between two of them is lost. */
export async function segmentsOf(folder: string, stream: OutputStream): Promise<Segment[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Removed, or never made.
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
  const starts = entries
    .flatMap(({ name }) => {
      const offset = name.startsWith(`${stream}.`) ? name.slice(stream.length + 1) : '';
      return /^\d{1,15}$/.test(offset) ? [Number(offset)] : [];
    })
    .sort((a, b) => a - b);
  const segments = await Promise.all(
    starts.map(async (start, index) => {
      const path = segmentPath(folder, stream, start);
      const size = await sizeOf(path);
      const next = starts[index + 1] ?? Infinity;
      return size === undefined ? [] : [{ path, start, end: Math.min(start + size, next) }];
    }),
  );
  return segments.flat();
}

/** Undefined for a file that was removed meanwhile: the oldest part goes when there is too much. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Which bytes of a stream can be read. */
export interface Extent {
  /** Offset of the oldest byte that is kept. */
  readonly start: number;
  /** Offset behind the newest. */
  readonly end: number;
  /** Bytes before and between what is kept: dropped to keep the bound, or refused by the disk. */
  readonly missingBytes: number;
}

export interface OutputRange {
  /** Offset of the first byte; larger than what was asked for where that is no longer kept. */
  readonly from: number;
  readonly bytes: Buffer;
}

/** Reads a stream from its files, while it is written or later, in this process or another. */
export class OutputReader {
  readonly #folder: string;
  readonly stream: OutputStream;

  constructor(folder: string, stream: OutputStream) {
    this.#folder = folder;
    this.stream = stream;
  }

  async extent(): Promise<Extent> {
    const segments = await segmentsOf(this.#folder, this.stream);
    const kept = segments.reduce((sum, { start, end }) => sum + end - start, 0);
    const end = segments.at(-1)?.end ?? 0;
    return { start: segments[0]?.start ?? end, end, missingBytes: end - kept };
  }

  /** Up to `maxBytes` from the offset on, or from the next byte that is kept; less where something is missing. */
  async read(from: number, maxBytes: number): Promise<OutputRange> {
    const segments = await segmentsOf(this.#folder, this.stream);
    const first = segments.findIndex(({ end }) => end > from);
    if (first === -1) return { from: Math.min(from, segments.at(-1)?.end ?? 0), bytes: Buffer.alloc(0) };
    const begin = Math.max(from, segments[first]?.start ?? from);
    const pieces: Buffer[] = [];
    let at = begin;
    for (const segment of segments.slice(first)) {
      const left = begin + maxBytes - at;
      if (left <= 0 || segment.start > at) break;
      const piece = await readSegment(segment, at, left);
      // Removed meanwhile, as the oldest: what follows it is read instead.
      if (piece === undefined && pieces.length === 0) return this.read(segment.end, maxBytes);
      if (piece === undefined) break;
      pieces.push(piece);
      at += piece.length;
    }
    return { from: begin, bytes: Buffer.concat(pieces) };
  }
}

async function readSegment(segment: Segment, from: number, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const handle = await open(segment.path, 'r');
    try {
      const bytes = Buffer.allocUnsafe(Math.min(maxBytes, segment.end - from));
      let length = 0;
      while (length < bytes.length) {
        const at = from - segment.start + length;
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length, at);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
