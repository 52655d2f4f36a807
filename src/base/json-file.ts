import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from './errors.js';
import { readRegularFile } from './regular-file.js';
import { oneLine } from './text.js';

export type JsonFile<T> =
  | { readonly state: 'ok'; readonly value: T }
  | { readonly state: 'missing' }
  /** It is there and is not what it should be; `why` completes the sentence "the file is unusable: …". */
  | { readonly state: 'corrupt'; readonly why: string };

/** Far above any record; a larger file is no file of ours. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_WHY_CHARS = 500;

/**
 * Reads a JSON file through a schema. Only regular files of at most 64 MB are read. Throws BridgeError STATE_UNUSABLE when
 * the system refuses (permissions, too many open files, a failing disk): that says nothing about what the file holds.
 */
export async function readJsonFile<T>(path: string, schema: z.ZodType<T>): Promise<JsonFile<T>> {
  let text: string;
  try {
    const read = await readRegularFile(path, MAX_JSON_BYTES);
    if (read.state === 'missing') return read;
    if (read.state === 'refused') return corrupt(read.why);
    text = read.bytes.toString('utf8');
  } catch (fault) {
    throw unusable('read', path, fault);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (fault) {
    return corrupt(text.trim() === '' ? 'it is empty' : `it is not JSON: ${messageOf(fault)}`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { state: 'ok', value: parsed.data };
  const faults = parsed.error.issues.map(
    (issue) => `${issue.path.map(String).join('.') || 'the whole'}: ${issue.message}`,
  );
  return corrupt(faults.join('; '));
}

/**
 * Replaces a file by `value` as JSON, so that a reader, also one after a crash, finds the old or the new content whole:
 * temp file in the same folder, fsync, rename, fsync of the folder (`durable: false` leaves out both fsyncs). A link at
 * `path` is replaced, not followed. Throws BridgeError STATE_UNUSABLE and leaves the old content and no temp file behind.
 *
 * Own lines because write-file-atomic follows links, opens a guessable temp name without O_EXCL, takes a short write of a
 * full disk for success, and does not fsync the folder.
 */
export async function writeJsonFileAtomically(
  path: string,
  value: unknown,
  { mode = 0o600, durable = true }: { readonly mode?: number; readonly durable?: boolean } = {},
): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      // The umask may have taken bits away that the caller asked for.
      await file.chmod(mode);
      await file.writeFile(text);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    if (durable) await syncFolder(folder);
  } catch (fault) {
    await rm(temporary, { force: true }).catch(() => {
      // The first fault is the one to tell; a disk that also refuses the removal adds nothing to it.
    });
    throw unusable('write', path, fault);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (fault) {
    // Some file systems (network, FUSE) know no fsync of a folder; the rename itself has happened.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(systemCodeOf(fault) ?? '')) throw fault;
  } finally {
    await handle.close();
  }
}

function corrupt(why: string): { readonly state: 'corrupt'; readonly why: string } {
  return { state: 'corrupt', why: oneLine(why, MAX_WHY_CHARS) };
}

function unusable(verb: 'read' | 'write', path: string, fault: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Cannot ${verb} ${path}: ${messageOf(fault)}`,
    'Check that the folder exists and is yours, that its disk has room, and that not too many files are open.',
    { cause: fault },
  );
}
