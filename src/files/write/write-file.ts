import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { replaceFile } from '../../base/files/folders.js';
import type { PathOpener } from '../../projects/path-opener.js';
import {
  encodeText,
  isValidText,
  markBytes,
  MAX_READ_BYTES,
  takenEncoding,
  textEncodings,
  unfit,
  type TextEncoding,
} from '../read/text-encoding.js';
import { alikeOf, makeDirectories, notWritable, shownPath, type WriteGuard } from './make-directories.js';

/** Permissions of owner, group and others: a replaced program stays executable, but loses set-user-ID and similar bits. */
const PERMISSION_BITS = 0o777;
const READ_CHUNK_BYTES = 65_536;
/** Content with U+FFFD is compared with this much of the file that it replaces. */
const MAX_COMPARED_BYTES = 67_108_864;

export interface WriteRequest {
  /** Real path, as `AllowedRoots` resolved it. */
  readonly real: string;
  readonly content: string;
  /** SHA-256 of the content to replace. */
  readonly expectedSha256?: string | undefined;
  /** Permissions of a new file. */
  readonly newFileMode: number;
  /** Called with the real path of the file. */
  readonly refuse: WriteGuard;
  /** Called before the file is replaced. */
  readonly note: (written: ReadyFile) => Promise<void>;
}

export const writtenFileSchema = z.object({
  path: z.string(),
  sizeBytes: z.int(),
  sha256: z.string(),
  /** True when the file did not exist before. */
  created: z.boolean(),
  /** That of the file before. */
  encoding: z.enum(textEncodings),
  /** The path, as JSON, of what has a name that looks like that of the new file, or of the outermost new folder. */
  alike: z.string().exactOptional(),
});
export type WrittenFile = Readonly<z.infer<typeof writtenFileSchema>>;

/** With the path of the new content: while that is there, the file was not replaced. */
export const readyFileSchema = writtenFileSchema.extend({ temporary: z.string() });
export type ReadyFile = Readonly<z.infer<typeof readyFileSchema>>;

/** What a write replaces. */
interface Replaced {
  readonly mode: number;
  readonly sha256: string | undefined;
  readonly head: Buffer;
  readonly size: number;
}

/**
 * Creates or atomically replaces a file in the checked directory: a reader finds the old or the new content. Other hard links keep
 * the old content; a symbolic link that replaced the file meanwhile is not followed. A text keeps its encoding. Throws like
 * `makeDirectories`, and NOT_A_FILE, NOT_WRITABLE, FILE_CHANGED, INVALID_ARGUMENTS.
 */
export async function writeFileAt(opener: PathOpener, request: WriteRequest): Promise<WrittenFile> {
  const { real, content, expectedSha256, newFileMode, refuse, note } = request;
  const name = basename(real);
  if (expectedSha256 !== undefined) await requireParent(opener, real, expectedSha256);
  const { directory, outermost } = await makeDirectories(opener, dirname(real), refuse);
  try {
    const target = directory.entry(name);
    const path = join(directory.path, name);
    await refuse(path);
    const headBytes = content.includes('\ufffd') ? MAX_COMPARED_BYTES : MAX_READ_BYTES;
    const before = await replacedAt(target, path, expectedSha256 === undefined ? headBytes : Infinity);
    if (expectedSha256 !== undefined && before?.sha256 !== expectedSha256.toLowerCase())
      throw changed(path, expectedSha256, before?.sha256);
    const encoding = keptEncoding(content, path, before);
    const bytes = encodeText(content, encoding, before?.head ?? Buffer.alloc(0));
    const created = before === undefined;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const written = { path, sizeBytes: bytes.length, sha256, created, encoding };
    const onReady = (temporary: string) => note({ ...written, temporary: join(directory.path, temporary) });
    try {
      await replaceFile(target, bytes, { mode: before?.mode ?? newFileMode, durable: true, onReady });
    } catch (thrown) {
      throw thrown instanceof BridgeError ? thrown : notWritable(path, thrown);
    }
    const alike = await alikeOf(opener, outermost ?? (created ? path : undefined));
    return { ...written, ...(alike !== undefined && { alike }) };
  } finally {
    await directory.handle.close();
  }
}

/** Throws when the parent is missing, so that a write that expects content creates no folders. */
async function requireParent(opener: PathOpener, real: string, expected: string): Promise<void> {
  try {
    await (await opener.openDirectory(dirname(real))).handle.close();
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND')
      throw changed(real, expected, undefined);
    throw thrown;
  }
}

/** The file to replace, with the hash of what was read of it: at most `maxBytes`. Undefined when there is no file. */
async function replacedAt(target: string, path: string, maxBytes: number): Promise<Replaced | undefined> {
  try {
    const stats = await lstat(target);
    if (stats.isSymbolicLink())
      throw new BridgeError(
        'FILE_CHANGED',
        `Path '${shownPath(path)}' became a link while it was opened.`,
        'Find out what replaces it, or try again later.',
      );
    if (!stats.isFile()) {
      const kind = stats.isDirectory() ? 'a directory' : 'a pipe, socket or device';
      const message = `Path '${shownPath(path)}' is ${kind}, not a regular file.`;
      throw new BridgeError('NOT_A_FILE', message, 'Give the path of a file, or of a new one.');
    }
    // The rename would replace even a file without write permission.
    await access(target, constants.W_OK);
    const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const hash = createHash('sha256');
      // Not beyond its initial size, since it may grow forever.
      const { size } = await file.stat();
      const end = Math.min(size, maxBytes);
      const head: Buffer[] = [];
      for (let at = 0; at < end;) {
        const chunk = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, end - at));
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) break;
        const bytes = chunk.subarray(0, bytesRead);
        hash.update(bytes);
        if (at < MAX_COMPARED_BYTES) head.push(bytes);
        at += bytesRead;
      }
      const mode = stats.mode & PERMISSION_BITS;
      return { mode, size, sha256: hash.digest('hex'), head: Buffer.concat(head) };
    } finally {
      await file.close();
    }
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown instanceof BridgeError ? thrown : notWritable(path, thrown);
  }
}

/** The encoding of the replaced text, which its new content keeps. Throws INVALID_ARGUMENTS for content that would be damaged. */
function keptEncoding(content: string, path: string, replaced: Replaced | undefined): TextEncoding {
  const isNew = replaced === undefined || replaced.size === 0;
  const encoding = isNew ? undefined : takenEncoding(replaced.head, replaced.size);
  if (isNew || encoding === undefined) return 'utf-8';
  const character = unfit(content, encoding);
  if (character !== undefined) {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `Path '${shownPath(path)}' is in ${encoding}, which has no ${JSON.stringify(character)} (U+${code}). Nothing was written.`,
      'Leave that character out. To have the file in UTF-8, delete it first, then write it.',
    );
  }
  if (content.includes('\ufffd') && !isValidText(replaced.head.subarray(markBytes(encoding)), encoding))
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `Path '${shownPath(path)}' has bytes that are not valid ${encoding}, and the content has U+FFFD where they may be: they would be lost. Nothing was written.`,
      'Change this file with a program that keeps its bytes, or give content without U+FFFD.',
    );
  return encoding;
}

function changed(path: string, expected: string, current: string | undefined): BridgeError {
  const is = current === undefined ? 'it does not exist' : `its content now has the sha256 ${current}`;
  return new BridgeError(
    'FILE_CHANGED',
    `Path '${shownPath(path)}' does not have the expected content (sha256 ${expected}): ${is}. Nothing was written.`,
    'Read it again, and base the new content on it.',
  );
}
