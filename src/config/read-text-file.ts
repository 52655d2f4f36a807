import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { systemCodeOf } from '../base/errors.js';

/** A person's settings are a few kilobytes; more is another kind of file. */
const MAX_SETTINGS_BYTES = 1_048_576;

export type TextFile =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'error'; readonly error: string };

/**
 * Reads a regular file of at most `MAX_SETTINGS_BYTES` as UTF-8, with its byte order mark. A pipe or device is refused
 * before anything is read from it: it is opened without blocking, and its descriptor is asked what it is.
 */
export async function readTextFile(path: string): Promise<TextFile> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    // What a socket answers to being opened.
    if (code === 'ENXIO') return { kind: 'error', error: 'is not a regular file' };
    return { kind: 'error', error: `cannot be opened (${code})` };
  }
  try {
    return await readRegular(file);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return { kind: 'error', error: `cannot be read (${code})` };
  } finally {
    await file.close();
  }
}

async function readRegular(file: FileHandle): Promise<TextFile> {
  const facts = await file.stat();
  if (facts.isDirectory()) return { kind: 'error', error: 'is a folder, not a file' };
  if (!facts.isFile()) return { kind: 'error', error: 'is not a regular file' };
  // One byte more than allowed shows a file that is larger than its size said, or grew.
  const bytes = Buffer.allocUnsafe(MAX_SETTINGS_BYTES + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > MAX_SETTINGS_BYTES) {
    return { kind: 'error', error: `is larger than ${MAX_SETTINGS_BYTES} bytes` };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { kind: 'text', text: decoder.decode(bytes.subarray(0, length)), mode: facts.mode & 0o777 };
  } catch (thrown) {
    if (thrown instanceof TypeError) return { kind: 'error', error: 'is not UTF-8 text' };
    throw thrown;
  }
}
