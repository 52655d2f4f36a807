import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { isSameIdentity, processIdentitySchema } from './process-place.js';

const LOCK_VERSION = 1;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

const lockSchema = z.object({
  version: z.literal(LOCK_VERSION),
  project_path: z.string(),
  task_id: z.string(),
  owner: processIdentitySchema,
  /** ISO 8601 in UTC. */
  since: z.string(),
  /** True while a server starts the task: the task's keeper then takes over the lock. */
  reserved: z.boolean().optional(),
});
const newerSchema = z.looseObject({ version: z.number().int().gt(LOCK_VERSION) });

/** The holder of a lock file, and the time since which it holds it. */
export type LockHolder = Readonly<Omit<z.infer<typeof lockSchema>, 'version'>>;

export type LockFile =
  | { readonly state: 'free' }
  /** Written by a newer bridge: the owner is unknown. */
  | { readonly state: 'newer' }
  | { readonly state: 'held'; readonly holder: LockHolder }
  /** `fileId` differs for another file of the same name. */
  | { readonly state: 'corrupt'; readonly why: string; readonly changedMs: number; readonly fileId: string };

/** Throws BridgeError STATE_UNUSABLE when the lock cannot be read. */
export async function readLock(path: string): Promise<LockFile> {
  const read = await readJsonFile(path, z.unknown());
  if (read.state === 'missing') return { state: 'free' };
  if (read.state === 'corrupt') return corruptLock(path, read.why);
  const parsed = lockSchema.safeParse(read.value);
  if (parsed.success) {
    const { version: _version, ...holder } = parsed.data;
    return { state: 'held', holder };
  }
  if (newerSchema.safeParse(read.value).success) return { state: 'newer' };
  return corruptLock(path, parsed.error.issues.map((issue) => issue.message).join('; '));
}

/** Reads the holder synchronously, for a process that exits; undefined when there is none or it is unreadable. */
export function readLockAtOnce(path: string): LockHolder | undefined {
  try {
    const parsed = lockSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Gone or half written: the next asynchronous reader reports it.
    return undefined;
  }
}

/** Creates the lock atomically. False when it exists. */
export function linkLock(path: string, holder: LockHolder): boolean {
  return withTemporary(path, holder, (temporary) => {
    try {
      linkSync(temporary, path);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Replaces the lock atomically. The caller must make sure that no other process does so. */
export function replaceLock(path: string, holder: LockHolder): void {
  withTemporary(path, holder, (temporary) => renameSync(temporary, path));
}

/** Removes a lock file if it exists. */
export function removeLock(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** The same task, held by the same process since the same time, both reserved or both not. */
export function isSameHolder(a: LockHolder, b: LockHolder): boolean {
  return (
    a.task_id === b.task_id &&
    a.since === b.since &&
    (a.reserved ?? false) === (b.reserved ?? false) &&
    isSameIdentity(a.owner, b.owner)
  );
}

/** Whether two reads found the same lock. */
export function isSameLock(a: LockFile, b: LockFile): boolean {
  if (a.state === 'held' && b.state === 'held') return isSameHolder(a.holder, b.holder);
  return a.state === 'corrupt' && b.state === 'corrupt' && a.fileId === b.fileId;
}

export function newerLock(path: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The lock ${path} was written by a newer version of the bridge.`,
    'Update this bridge, or stop the task with the newer one.',
  );
}

/** The suffix of temporary lock files; the writer of an old one has died. */
export const TEMPORARY_SUFFIX = '.tmp';

/** Synchronous, like all work on locks: they are small and on a local disk, and the start of a task waits for a dozen such steps. */
function withTemporary<T>(path: string, holder: LockHolder, use: (temporary: string) => T): T {
  const temporary = `${path}.${randomBytes(6).toString('hex')}${TEMPORARY_SUFFIX}`;
  const text = `${JSON.stringify({ version: LOCK_VERSION, ...holder })}\n`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
    writeFileSync(temporary, text, { mode: OWNER_ONLY_FILE, flag: 'wx' });
    return use(temporary);
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot write the lock ${path}: ${messageOf(error)}`,
      'The state directory needs free space and a file system with hard links; set MCP_STATE_DIR to use another one.',
      { cause: error },
    );
  } finally {
    try {
      removeLock(temporary);
    } catch {
      // If the disk refuses this too, the next holder sweeps the file.
    }
  }
}

async function corruptLock(path: string, why: string): Promise<LockFile> {
  try {
    const facts = await lstat(path);
    return {
      state: 'corrupt',
      why,
      // Rounded down, as the clock returns whole milliseconds: a file of this millisecond must not seem to be from the future.
      changedMs: Math.floor(facts.mtimeMs),
      fileId: `${facts.dev}:${facts.ino}:${facts.mtimeMs}`,
    };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return { state: 'free' };
    throw error;
  }
}
