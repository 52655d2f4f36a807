import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** A larger file is data, or the log of a machine. */
const MAX_FILE_BYTES = 10_000_000;
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/**
 * The text of the regular file at `path`; undefined for what is binary, too large, a link, gone, closed to us,
 * or reached by a link. At once rather than by the thread pool: fifty thousand files would take seconds in waiting alone.
 */
export function textOfFile(path: string, hasDescriptorPaths: boolean): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, FLAGS);
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
    // Reached by a link, it would lie elsewhere.
    const real = hasDescriptorPaths ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path);
    if (real !== path) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    const content = bytes.subarray(0, length);
    return content.includes(0) ? undefined : content.toString('utf8');
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
