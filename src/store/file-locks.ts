import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import {
  isSameHolder,
  isSameLock,
  linkLock,
  newerLock,
  readLock,
  removeLock,
  replaceLock,
  TEMPORARY_SUFFIX,
  type LockFile,
  type LockHolder,
} from './lock-file.js';
import { ownerState } from './owner-state.js';
import { ownIdentity } from './process-identity.js';
import { isSameIdentity } from './process-place.js';

export interface CorruptLock {
  readonly path: string;
  readonly setAsideAs: string;
  readonly why: string;
}

export interface FileLocksOptions {
  /** The state directory, which holds the heartbeats of owners. */
  readonly statePath: string;
  readonly clock: Clock;
  readonly onCorrupt: (corrupt: CorruptLock) => void;
}

/** Locks appear atomically, so an unreadable one is not half written; on file systems where that fails, its writer gets this long. */
const CORRUPT_WAIT_MS = 3_000;
/** A take-over is a few system calls; others retry after this time, this many times. */
const RETRY_MS = 10;
const MAX_TRIES = 300;
/** How many takers may have died, each while taking over from the one before; more would not fit into a file name. */
const MAX_DEPTH = 4;
/** A temporary file lives for milliseconds; the writer of one this old has died. */
const STALE_TEMPORARY_MS = 60_000;

/** Lock files: each has one holder at a time, and is taken over only from a provably dead process. */
export class FileLocks {
  readonly #options: FileLocksOptions;
  readonly #clock: Clock;

  constructor(options: FileLocksOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /**
   * Makes `holder` the holder of the lock file at `path`, or returns the current holder. Throws STATE_UNUSABLE. A dead holder's file
   * is replaced under a second lock, `<path>.takeover.<dead task id>`, claimed in the same way: a taker that dies can itself be taken
   * over from, and no two processes replace or remove a file at the same time.
   */
  async claim(path: string, holder: LockHolder, depth = 0): Promise<LockHolder | undefined> {
    let blocker: LockHolder | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (linkLock(path, holder)) return undefined;
      const found = await readLock(path);
      if (found.state === 'free') continue;
      if (found.state === 'newer') throw newerLock(path);
      if (found.state === 'held' && (await ownerState(found.holder.owner, this.#options)) !== 'gone')
        return found.holder;
      if (found.state === 'corrupt' && (await this.#waitsForWriter(found))) continue;
      const alone = await this.#alone(path, found, holder, depth, async () => {
        if (found.state === 'corrupt') return this.#setAside(path, found.why);
        replaceLock(path, holder);
        return 'ours';
      });
      if (alone === 'ours') return undefined;
      if (typeof alone === 'object') {
        blocker = alone;
        await sleep(this.#clock, RETRY_MS);
      }
    }
    if (blocker !== undefined) return blocker;
    throw stuck(path);
  }

  /** Runs `act` as the only process that may touch the file. Returns the holder when that is another one, or `changed` for a file unlike `found`. */
  async #alone<T>(
    path: string,
    found: LockFile,
    wanted: LockHolder,
    depth: number,
    act: () => Promise<T>,
  ): Promise<T | LockHolder | 'changed'> {
    if (depth >= MAX_DEPTH) throw stuck(path);
    const takeover = `${path}.takeover.${found.state === 'held' ? found.holder.task_id : found.state}`;
    // This process holds it, whoever the lock is for: if this process dies, the work stays undone.
    const taker: LockHolder = { ...wanted, owner: await ownIdentity() };
    const busy = await this.claim(takeover, taker, depth + 1);
    if (busy !== undefined) return busy;
    try {
      return isSameLock(await readLock(path), found) ? await act() : 'changed';
    } finally {
      removeLock(takeover);
    }
  }

  async #setAside(path: string, why: string): Promise<'set-aside'> {
    const setAsideAs = `${path}.corrupt`;
    await rename(path, setAsideAs);
    this.#options.onCorrupt({ path, setAsideAs, why });
    return 'set-aside';
  }

  /** True when it waited: the file may have become readable. */
  async #waitsForWriter(found: LockFile & { readonly state: 'corrupt' }): Promise<boolean> {
    const ageMs = this.#clock.now() - found.changedMs;
    // A time in the future means that the clock was set back, not that a writer is at work.
    if (ageMs >= CORRUPT_WAIT_MS || ageMs < 0) return false;
    await sleep(this.#clock, CORRUPT_WAIT_MS - ageMs);
    return true;
  }

  /** Returns `lost`, and leaves the file alone, when it no longer belongs to the holder. */
  async release(path: string, holder: LockHolder): Promise<'released' | 'lost'> {
    const isOwn = isSameIdentity(holder.owner, await ownIdentity());
    let found: LockFile;
    try {
      found = await readLock(path);
    } catch (error) {
      if (!isOwn) throw error;
      // Otherwise it would be held as long as this process lives. No one else touches a living owner's file, and removing it needs no descriptor.
      removeLock(path);
      return 'released';
    }
    if (found.state !== 'held' || !isSameHolder(found.holder, holder)) return 'lost';
    // No one takes over from a living owner: if that is this process, no other one touches the file. This also works on a full
    // disk, where a second lock could not be written.
    if (isOwn) {
      removeLock(path);
      return 'released';
    }
    const alone = await this.#alone(path, found, holder, 0, async () => {
      removeLock(path);
      return 'released' as const;
    });
    return alone === 'released' ? alone : 'lost';
  }

  /** Removes files of earlier take-overs whose processes died. Only for the holder of the lock. `names` lists all files in its folder. */
  async sweep(path: string, taskId: string, names: readonly string[]): Promise<void> {
    const name = basename(path);
    const ownTakeover = `${name}.takeover.${taskId}`;
    for (const entry of names) {
      if (!entry.startsWith(`${name}.`) || entry.startsWith(ownTakeover)) continue;
      const file = join(dirname(path), entry);
      if (
        entry.endsWith(TEMPORARY_SUFFIX) ? await this.#isLeft(file) : entry.startsWith(`${name}.takeover.`)
      ) {
        await rm(file, { force: true, recursive: true });
      }
    }
  }

  /** Whether the writer of a temporary file has died; one that has not written its name yet gets some time. */
  async #isLeft(file: string): Promise<boolean> {
    try {
      const found = await readLock(file);
      if (found.state === 'held') return (await ownerState(found.holder.owner, this.#options)) === 'gone';
      return this.#clock.now() - (await stat(file)).mtimeMs > STALE_TEMPORARY_MS;
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }
}

function stuck(path: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The lock ${path} could not be acquired: it kept changing.`,
    `If no task runs in the project, remove the files whose names begin with ${path} and try again.`,
  );
}
