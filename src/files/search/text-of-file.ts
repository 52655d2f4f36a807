import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { systemCodeOf } from '../../base/errors.js';
import { decodeText, markBytes, type TextEncoding } from '../read/text-encoding.js';

/** Larger files are not read: they are data or logs of programs. */
export const MAX_SEARCHED_BYTES = 10_000_000;
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

export type FileText =
  | { readonly state: 'text'; readonly text: string; readonly isUnicode: boolean }
  | { readonly state: 'large' }
  | { readonly state: 'binary' }
  /** Not a regular file, missing, inaccessible, or reached through a link. */
  | { readonly state: 'none' };

const NONE: FileText = { state: 'none' };

/**
 * The text of the file at the real path `path`, without a byte order mark: UTF-16 if it has such a mark, otherwise UTF-8 with U+FFFD
 * for invalid bytes. Synchronous, since thousands of files would take seconds through the thread pool.
 */
export function textOfFile(path: string, hasDescriptorPaths: boolean): FileText {
  let fd: number | undefined;
  try {
    fd = openSync(path, FLAGS);
    const stats = fstatSync(fd);
    const real = hasDescriptorPaths ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path);
    if (!stats.isFile() || real !== path) return NONE;
    return stats.size > MAX_SEARCHED_BYTES ? { state: 'large' } : decoded(bytesOf(fd, stats.size));
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
    return NONE;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function decoded(bytes: Buffer): FileText {
  const encoding = encodingByMark(bytes);
  const text = decodeText(bytes.subarray(markBytes(encoding)), encoding);
  if (text.includes('\0')) return { state: 'binary' };
  return { state: 'text', text, isUnicode: encoding !== 'utf-8' || isUtf8(bytes) };
}

function encodingByMark(bytes: Buffer): TextEncoding {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8-bom' : 'utf-8';
}

/** Reads up to `size` bytes. */
function bytesOf(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, bytes, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
