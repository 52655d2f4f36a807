import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { systemCodeOf } from './errors.js';

export type OpenedFile =
  | { readonly state: 'open'; readonly file: FileHandle; readonly size: number }
  | { readonly state: 'missing' }
  | { readonly state: 'refused'; readonly why: string };

export type ReadBytes =
  | { readonly state: 'ok'; readonly bytes: Buffer }
  | { readonly state: 'missing' }
  | { readonly state: 'refused'; readonly why: string };

/** Pieces in which a file is read: most files of the bridge fit into one. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Opens a regular file for reading; the caller closes it. A pipe, device, socket or folder is refused before anything is
 * read from it: it is opened without blocking, and its descriptor is asked what it is. Other system errors are thrown.
 */
export async function openRegularFile(path: string): Promise<OpenedFile> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (fault) {
    const code = systemCodeOf(fault);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' };
    // What a socket answers to being opened, on Linux and on macOS.
    if (code === 'ENXIO' || code === 'EOPNOTSUPP')
      return { state: 'refused', why: 'it is not a regular file' };
    throw fault;
  }
  try {
    const facts = await file.stat();
    if (facts.isFile()) return { state: 'open', file, size: facts.size };
    await file.close();
    return { state: 'refused', why: facts.isDirectory() ? 'it is a folder' : 'it is not a regular file' };
  } catch (fault) {
    await file.close();
    throw fault;
  }
}

/** All bytes of a regular file of at most `maxBytes`; a larger one is refused. System errors but "missing" are thrown. */
export async function readRegularFile(path: string, maxBytes: number): Promise<ReadBytes> {
  const opened = await openRegularFile(path);
  if (opened.state !== 'open') return opened;
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    // Read to the end rather than to the size: the file may grow, and some files state no size.
    while (length <= maxBytes) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - length));
      const { bytesRead } = await opened.file.read(chunk, 0, chunk.length, length);
      if (bytesRead === 0) return { state: 'ok', bytes: Buffer.concat(chunks, length) };
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
    }
    return { state: 'refused', why: `it is larger than ${maxBytes} bytes` };
  } finally {
    await opened.file.close();
  }
}
