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
 * Reads a regular file of at most `maxBytes` as UTF-8, with its byte order mark. A pipe or device is refused
 * before anything is read from it: it is opened without blocking, and its descriptor is asked what it is.
 */
export async function readTextFile(path: string, maxBytes = MAX_SETTINGS_BYTES): Promise<TextFile> {
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
    return await readRegular(file, maxBytes);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return { kind: 'error', error: `cannot be read (${code})` };
  } finally {
    await file.close();
  }
}

async function readRegular(file: FileHandle, maxBytes: number): Promise<TextFile> {
  const facts = await file.stat();
  if (facts.isDirectory()) return { kind: 'error', error: 'is a folder, not a file' };
  if (!facts.isFile()) return { kind: 'error', error: 'is not a regular file' };
  const chunks: Buffer[] = [];
  // One byte more than allowed shows a file that is larger than its size said, or grew.
  const stream: AsyncIterable<Buffer> = file.createReadStream({ start: 0, end: maxBytes, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > maxBytes) return { kind: 'error', error: `is larger than ${maxBytes} bytes` };
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { kind: 'text', text: decoder.decode(bytes), mode: facts.mode & 0o777 };
  } catch (thrown) {
    if (thrown instanceof TypeError) return { kind: 'error', error: 'is not UTF-8 text' };
    throw thrown;
  }
}
