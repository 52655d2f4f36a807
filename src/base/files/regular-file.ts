import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { systemCodeOf } from '../errors.js';

export type OpenedFile =
  | { readonly state: 'open'; readonly file: FileHandle; readonly size: number }
  | { readonly state: 'missing' }
  | { readonly state: 'refused'; readonly why: string };

export type ReadBytes =
  | { readonly state: 'ok'; readonly bytes: Buffer }
  | { readonly state: 'missing' }
  | { readonly state: 'refused'; readonly why: string };

/** The size of one read; most files of the bridge fit into it. */
const CHUNK_BYTES = 64 * 1024;
/** For a file that reports no size. */
const MIN_READ_BYTES = 4 * 1024;
/** The most that is read of settings of another program; some keep the history of a year in them. */
export const MAX_SETTINGS_BYTES = 64 * 1024 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a regular file for reading; the caller closes it. The open does not block, and the descriptor is checked, so a pipe,
 * device, socket or folder is refused before anything is read from it. Other system errors are thrown.
 */
export async function openRegularFile(path: string): Promise<OpenedFile> {
  let file: FileHandle;
  try {
    file = await open(path, READ_FLAGS);
  } catch (error) {
    return notOpened(error);
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

/**
 * Returns all bytes of a regular file; one above `maxBytes` is refused. System errors other than "missing" are thrown. A small file
 * is read synchronously: it takes four steps, and on a busy machine each asynchronous one waits twice for the thread pool.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<ReadBytes> {
  const small = readSmallFile(path, maxBytes);
  if (small.state !== 'large') return small;
  const opened = await openRegularFile(path);
  if (opened.state !== 'open') return opened;
  try {
    if (opened.size > maxBytes) return { state: 'refused', why: `it is larger than ${maxBytes} bytes` };
    const chunks: Buffer[] = [];
    let length = 0;
    // Read to the end rather than to the size: the file may grow, and some files report no size.
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

/** The bytes of a file that fits into one chunk, or why it was not read. */
function readSmallFile(path: string, maxBytes: number): ReadBytes | { readonly state: 'large' } {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_FLAGS);
  } catch (error) {
    return notOpened(error);
  }
  try {
    const facts = fstatSync(descriptor);
    if (facts.isDirectory()) return { state: 'refused', why: 'it is a folder' };
    if (!facts.isFile()) return { state: 'refused', why: 'it is not a regular file' };
    const room = Math.min(CHUNK_BYTES, maxBytes);
    // Some files report no size, and a file may grow: only its end shows whether it is small.
    if (facts.size >= room) return { state: 'large' };
    const bytes = Buffer.allocUnsafe(Math.min(Math.max(facts.size + 1, MIN_READ_BYTES), maxBytes + 1));
    for (let length = 0; length < bytes.length;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, length);
      if (read === 0) return { state: 'ok', bytes: bytes.subarray(0, length) };
      length += read;
    }
    return { state: 'large' };
  } finally {
    closeSync(descriptor);
  }
}

/** Throws any error that means neither "missing" nor "this kind of file cannot be opened". */
function notOpened(error: unknown): Exclude<ReadBytes, { state: 'ok' }> {
  const code = systemCodeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' };
  // The errors for opening a socket, on Linux and on macOS.
  if (code === 'ENXIO' || code === 'EOPNOTSUPP') return { state: 'refused', why: 'it is not a regular file' };
  throw error;
}
