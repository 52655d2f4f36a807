import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, lstat, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/atomic-file.js';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { makeDirectories } from './make-directories.js';
import type { WriteGuard } from './protected-path.js';
import { notWritable } from './write-fault.js';

/** Permissions of the owner, the group and others: a program that is replaced by text stays executable, but gains nothing. */
const PERMISSION_BITS = 0o777;
const SHOWN_CHARS = 400;
const HASH_CHUNK_BYTES = 65_536;

export interface WriteRequest {
  /** Real path, as `AllowedRoots` resolved it. */
  readonly real: string;
  readonly content: string;
  /** SHA-256 of the content that is to be replaced. */
  readonly expectedSha256: string | undefined;
  /** Permissions of a file that is new. */
  readonly newFileMode: number;
  /** Asked with the place that is truly open. */
  readonly refuse: WriteGuard;
}

export interface WrittenFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** True when there was no such file before. */
  readonly created: boolean;
}

/**
 * Replaces or creates a file in one step, in the directory that was judged: a reader finds the old or the new content.
 * A hard link is replaced, its other names keep the old content; a link that took the name since is not followed. Throws as
 * `makeDirectories`, and NOT_A_FILE, NOT_WRITABLE, FILE_CHANGED.
 */
export async function writeFileAt(opener: PathOpener, request: WriteRequest): Promise<WrittenFile> {
  const { real, content, expectedSha256, newFileMode, refuse } = request;
  const name = basename(real);
  if (expectedSha256 !== undefined) await requireParent(opener, real, expectedSha256);
  const { directory } = await makeDirectories(opener, dirname(real), refuse);
  try {
    const target = directory.entry(name);
    const path = join(directory.path, name);
    await refuse(path);
    const before = await statsOf(target, path);
    if (before !== undefined) await requireReplaceable(target, path, before);
    if (expectedSha256 !== undefined) await requireContent(target, path, expectedSha256);
    const mode = before === undefined ? newFileMode : before.mode & PERMISSION_BITS;
    try {
      await replaceFile(target, content, { mode, durable: true });
    } catch (thrown) {
      throw notWritable(path, thrown);
    }
    const bytes = Buffer.from(content);
    return { path, sizeBytes: bytes.length, sha256: sha256Of(bytes), created: before === undefined };
  } finally {
    await closeDirectory(directory);
  }
}

/** What a write that expects content would make is not made when there is none. */
async function requireParent(opener: PathOpener, real: string, expected: string): Promise<void> {
  try {
    await closeDirectory(await opener.openDirectory(dirname(real)));
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND')
      throw changed(real, expected, undefined);
    throw thrown;
  }
}

async function closeDirectory(directory: OpenedDirectory): Promise<void> {
  await directory.handle.close();
}

async function statsOf(target: string, path: string): Promise<Stats | undefined> {
  try {
    return await lstat(target);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw notWritable(path, thrown);
  }
}

async function requireReplaceable(target: string, path: string, stats: Stats): Promise<void> {
  if (stats.isSymbolicLink()) {
    throw new BridgeError(
      'FILE_CHANGED',
      `Path '${shown(path)}' became a link while it was opened.`,
      'Find out what replaces it, or try again later.',
    );
  }
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'a pipe, socket or device';
    const message = `Path '${shown(path)}' is ${kind}, not a regular file.`;
    throw new BridgeError('NOT_A_FILE', message, 'Give the path of a file, or of a new one.');
  }
  try {
    // The rename would replace it all the same.
    await access(target, constants.W_OK);
  } catch (thrown) {
    throw notWritable(path, thrown);
  }
}

async function requireContent(target: string, path: string, expected: string): Promise<void> {
  const current = await contentSha256(target, path);
  if (current !== expected.toLowerCase()) throw changed(path, expected, current);
}

/** Undefined when there is no file. */
async function contentSha256(target: string, path: string): Promise<string | undefined> {
  let file;
  try {
    file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw notWritable(path, thrown);
  }
  try {
    const hash = createHash('sha256');
    const { size } = await file.stat();
    const chunk = Buffer.allocUnsafe(HASH_CHUNK_BYTES);
    // Not beyond the size it had: it may grow for ever.
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, size - at), at);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}

function changed(path: string, expected: string, current: string | undefined): BridgeError {
  const is = current === undefined ? 'it does not exist' : `its content now has the sha256 ${current}`;
  return new BridgeError(
    'FILE_CHANGED',
    `Path '${shown(path)}' is not what was expected (sha256 ${expected}): ${is}. Nothing was written.`,
    'Read it again, and write with what was read in mind.',
  );
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function shown(path: string): string {
  return oneLine(path, SHOWN_CHARS);
}
