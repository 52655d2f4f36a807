import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { isSameIdentity, processIdentitySchema } from './process-identity.js';

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
  /** True while the owner only starts the task: the task's keeper takes the lock from it. */
  reserved: z.boolean().optional(),
});
const newerSchema = z.looseObject({ version: z.number().int().gt(LOCK_VERSION) });

/** Who holds a lock file, and since when. */
export type LockHolder = Readonly<Omit<z.infer<typeof lockSchema>, 'version'>>;

export type LockFile =
  | { readonly state: 'free' }
  /** Written by a newer bridge: whose it is cannot be told. */
  | { readonly state: 'newer' }
  | { readonly state: 'held'; readonly holder: LockHolder }
  /** `mark` tells this very file from another one of the same name. */
  | { readonly state: 'corrupt'; readonly why: string; readonly changedMs: number; readonly mark: string };

/** Throws BridgeError STATE_UNUSABLE when the system does not let the lock be read. */
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

/** The holder, for a process that has no time to wait; undefined when there is none that can be read. */
export function readLockAtOnce(path: string): LockHolder | undefined {
  try {
    const parsed = lockSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Gone, or half written: it is not what was asked for, and its next reader tells more.
    return undefined;
  }
}

/** Puts the lock in place whole, or not at all. False when there is one already. */
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

/** Replaces the lock at once; only for whoever has made sure to be the only one who does. */
export function replaceLock(path: string, holder: LockHolder): void {
  withTemporary(path, holder, (temporary) => renameSync(temporary, path));
}

/** Removes a lock file; one that is gone is removed already. */
export function removeLock(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** The same task, held by the same process since the same moment, for the same purpose. */
export function isSameHolder(a: LockHolder, b: LockHolder): boolean {
  return (
    a.task_id === b.task_id &&
    a.since === b.since &&
    (a.reserved ?? false) === (b.reserved ?? false) &&
    isSameIdentity(a.owner, b.owner)
  );
}

/** Whether a file seen twice is unchanged. */
export function isSameLock(a: LockFile, b: LockFile): boolean {
  if (a.state === 'held' && b.state === 'held') return isSameHolder(a.holder, b.holder);
  return a.state === 'corrupt' && b.state === 'corrupt' && a.mark === b.mark;
}

export function newerLock(path: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The lock ${path} was written by a newer version of the bridge.`,
    'Update this bridge, or stop the task with the newer one.',
  );
}

/** Unfinished files of this name end so; one that is old belongs to a process that died. */
export const TEMPORARY_SUFFIX = '.tmp';

/** At once, as all that is done to locks: they are small, on a local disk, and whoever starts a task waits for a dozen such steps. */
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
      'The state directory needs room and a file system with hard links; MCP_STATE_DIR names another place.',
      { cause: error },
    );
  } finally {
    try {
      removeLock(temporary);
    } catch {
      // A disk that refuses this too leaves a file that the next holder sweeps.
    }
  }
}

async function corruptLock(path: string, why: string): Promise<LockFile> {
  try {
    const facts = await lstat(path);
    return {
      state: 'corrupt',
      why,
      // The clock tells whole milliseconds: what was written in this one is not from the future.
      changedMs: Math.floor(facts.mtimeMs),
      mark: `${facts.dev}:${facts.ino}:${facts.mtimeMs}`,
    };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return { state: 'free' };
    throw error;
  }
}
