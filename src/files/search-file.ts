import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { triedInFolder } from './in-folder.js';

/** A larger file is data, or the log of a machine. */
const MAX_FILE_BYTES = 10_000_000;
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
/** Linux: a link for each descriptor, which says where the file really is. */
const DESCRIPTORS = '/proc/self/fd';
/** Files that are worth reading together; a page may need few of them. */
export const FILES_TOGETHER = 32;
const MAX_UNITS_TOGETHER = 1_000_000;
const USUAL_FILE_BYTES = 65_536;

/** Where the open file is; `path` led to it. */
type RealPath = (fd: number, path: string) => string;

/**
 * The texts of the first ones of `paths`, at least of one, in order; undefined for what is no regular file, binary, too large, a link,
 * gone, closed to us, or reached by a link. At once rather than by the thread pool: fifty thousand files would take seconds in waiting
 * alone. `isDue` tells when others have waited long enough.
 */
export function textsOfFiles(
  paths: readonly string[],
  hasDescriptorPaths: boolean,
  isDue: () => boolean,
): readonly (string | undefined)[] {
  let texts: readonly (string | undefined)[] = [];
  // From there each descriptor is one short name away, which takes half of the time.
  const isRead =
    hasDescriptorPaths &&
    triedInFolder(DESCRIPTORS, () => {
      texts = textsOf(paths, (fd) => readlinkSync(String(fd)), isDue);
    });
  if (isRead) return texts;
  const realPath: RealPath = (fd, path) =>
    hasDescriptorPaths ? readlinkSync(`${DESCRIPTORS}/${fd}`) : realpathSync(path);
  return textsOf(paths, realPath, isDue);
}

/**
 * As `textsOfFiles`, of regular files in the folder at `place`, which no link leads to: who says so sees behind it that it was right.
 * Undefined, and nothing was read, when there is no way into the folder. Linux only.
 */
export function textsOfSettledFiles(
  place: string,
  paths: readonly string[],
  isDue: () => boolean,
): readonly (string | undefined)[] | undefined {
  let texts: readonly (string | undefined)[] | undefined;
  triedInFolder(place, () => (texts = textsOf(paths, undefined, isDue)));
  return texts;
}

function textsOf(
  paths: readonly string[],
  realPath: RealPath | undefined,
  isDue: () => boolean,
): (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  let units = 0;
  for (const path of paths) {
    const text = textOfFile(path, realPath);
    texts.push(text);
    units += text?.length ?? 0;
    if (units > MAX_UNITS_TOGETHER || isDue()) break;
  }
  return texts;
}

/** `realPath` is left out for what is known to be a regular file in its place. */
function textOfFile(path: string, realPath: RealPath | undefined): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, FLAGS);
    const content = realPath === undefined ? settledBytes(fd) : bytesInPlace(fd, path, realPath);
    return content === undefined || content.includes(0) ? undefined : content.toString('utf8');
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Undefined for what is no regular file, too large, or reached by a link: then it lies elsewhere. */
function bytesInPlace(fd: number, path: string, realPath: RealPath): Buffer | undefined {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size > MAX_FILE_BYTES || realPath(fd, path) !== path) return undefined;
  return bytesOf(fd, stats.size);
}

/** Most are read to their end by one call. */
function settledBytes(fd: number): Buffer | undefined {
  const bytes = usualBytes();
  const length = readSync(fd, bytes, 0, bytes.length, 0);
  if (length < bytes.length) return bytes.subarray(0, length);
  const stats = fstatSync(fd);
  return stats.isFile() && stats.size <= MAX_FILE_BYTES ? bytesOf(fd, stats.size) : undefined;
}

/** Up to `size` bytes, in memory that the next call may write to. */
function bytesOf(fd: number, size: number): Buffer {
  const bytes = size <= USUAL_FILE_BYTES ? usualBytes() : Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, bytes, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

let usual: Buffer | undefined;
function usualBytes(): Buffer {
  usual ??= Buffer.allocUnsafeSlow(USUAL_FILE_BYTES);
  return usual;
}
