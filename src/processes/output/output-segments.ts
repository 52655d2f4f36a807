import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
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
