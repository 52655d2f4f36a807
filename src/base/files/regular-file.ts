import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { systemCodeOf } from '../errors.js';

type NoFile = { readonly state: 'missing' } | { readonly state: 'refused'; readonly why: string };

/** The size of a read beyond what a file was said to have. */
const CHUNK_BYTES = 64 * 1024;
/** The most that is read of settings of another program; some keep the history of a year in them. */
export const MAX_SETTINGS_BYTES = 64 * 1024 * 1024;

/**
 * Opens a regular file for reading; the caller closes it. The open does not block, and the descriptor is checked, so a pipe,
 * device, socket or folder is refused before anything is read from it. Other system errors are thrown.
 */
export async function openRegularFile(
  path: string,
): Promise<NoFile | { readonly state: 'open'; readonly file: FileHandle; readonly size: number }> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' };
    // The errors for opening a socket, on Linux and on macOS.
    if (code !== 'ENXIO' && code !== 'EOPNOTSUPP') throw error;
    return { state: 'refused', why: 'it is not a regular file' };
  }
  try {
    const facts = await file.stat();
    if (facts.isFile()) return { state: 'open', file, size: facts.size };
    await file.close();
    return { state: 'refused', why: facts.isDirectory() ? 'it is a folder' : 'it is not a regular file' };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns all bytes of a regular file; one above `maxBytes` is refused. System errors other than "missing" are thrown. */
export async function readRegularFile(
  path: string,
  maxBytes: number,
): Promise<NoFile | { readonly state: 'ok'; readonly bytes: Buffer }> {
  const opened = await openRegularFile(path);
  if (opened.state !== 'open') return opened;
  try {
    let bytes = Buffer.allocUnsafe(Math.min(opened.size, maxBytes) + 1);
    let length = 0;
    // Read to the end rather than to the size: the file may grow, and some files report no size.
    while (opened.size <= maxBytes && length <= maxBytes) {
      if (length === bytes.length) bytes = Buffer.concat([bytes], length + CHUNK_BYTES);
      const { bytesRead } = await opened.file.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      // It has ended where a read of more than its size gives its size.
      if (bytesRead === 0 || length === opened.size) return { state: 'ok', bytes: bytes.subarray(0, length) };
    }
    return { state: 'refused', why: `it is larger than ${maxBytes} bytes` };
  } finally {
    await opened.file.close();
  }
}
