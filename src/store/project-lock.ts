import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import { isSameProject } from '../projects/same-project.js';
import { FileLocks, type CorruptLock } from './file-locks.js';
import {
  newerLock,
  readLock,
  readLockAtOnce,
  replaceLock,
  TEMPORARY_SUFFIX,
  type LockHolder,
} from './lock-file.js';
import { ownerState } from './owner-state.js';
import { ownIdentity, type ProcessState } from './process-identity.js';
import { isSameIdentity, type ProcessIdentity } from './process-place.js';

export type { CorruptLock } from './file-locks.js';
export type { LockHolder } from './lock-file.js';

export interface LockWish {
  /** Real path of the project: two names of one folder are one lock only then. */
  readonly projectPath: string;
  readonly taskId: string;
  /** The process whose end frees the project. */
  readonly owner: ProcessIdentity;
}

/** A lock that is ours until it is released, or its owner dies. */
export interface Lock {
  readonly holder: LockHolder;
  /**
   * `lost` when the lock was no longer ours; it is left as it is then. `later` for a reservation that cannot be given back now
   * (no descriptors, no turn): it is tried again until it is.
   */
  release(): Promise<'released' | 'lost' | 'later'>;
}

/** Who holds which project, while nobody else may change that. */
export interface LockTable {
  /** Of living owners, and of those of whom that is not known. */
  readonly held: readonly LockHolder[];
  /** Of owners that are provably dead: whoever takes the project takes the lock over. */
  readonly dead: readonly LockHolder[];
  /**
   * Takes the lock for a task that this process is about to start; the task's keeper takes it from here with `acquire`.
   * Only for a project that is free in this table.
   */
  reserve(wish: LockWish): Promise<Lock>;
  /** Removes the lock of a dead owner; first what it left behind must be gone. */
  clear(dead: LockHolder): Promise<void>;
}

/** `names` are those of all files in the folder of locks when the critical section began. */
type CriticalSection<T> = (table: LockTable, names: readonly string[]) => Promise<T>;

const LOCK_NAME = /^[0-9a-f]{64}$/;
/** The file that a process holds in a critical section. The name is that of the first version. */
const MUTEX_NAME = 'decision';
/** A critical section takes a few milliseconds; a process that waits for one tries again this often. */
const MUTEX_RETRY_MS = 4;
/** Longer than a hundred critical sections take; a process that holds the mutex so long was stopped in the middle. */
const MUTEX_LIMIT_MS = 20_000;
/** How often a failed release of a reservation is tried again; its project is held as long. */
const GIVE_BACK_RETRY_MS = 1_000;

/**
 * One running task a project, across all processes of the user: `<lockDir>/<hash of the project's path>`. A folder and one
 * that lies in it are one project. Locks are taken in a critical section: its process holds `<lockDir>/decision`.
 */
export class ProjectLocks implements Disposable {
  readonly #lockDir: string;
  readonly #clock: Clock;
  readonly #files: FileLocks;
  /** This process, once it was asked for. */
  #known: ProcessIdentity | undefined;
  #disposed = false;
  /** Reservations by their paths that are still to be given back. */
  readonly #owed = new Map<string, LockHolder>();
  #payingBack: Disposable | undefined;
  /** The critical section before, in this process: they wait for each other here and not at the file. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(lockDir: string, clock: Clock, onCorrupt: (corrupt: CorruptLock) => void) {
    this.#lockDir = lockDir;
    this.#clock = clock;
    this.#files = new FileLocks({ statePath: dirname(lockDir), clock, onCorrupt });
  }

  /**
   * Takes the project's lock when the project, its parents and what lies in it are free or their owners provably dead (pid,
   * start time and boot), or when it is reserved for this task; of any number of processes that try at once one gets it.
   * Throws BridgeError STATE_UNUSABLE when the disk does not let it.
   */
  async acquire(wish: LockWish): Promise<{ readonly held: Lock } | { readonly busy: LockHolder }> {
    return this.#inSection(async ({ held }, names) => {
      const isReserved = (lock: LockHolder): boolean =>
        lock.task_id === wish.taskId && lock.project_path === wish.projectPath && (lock.reserved ?? false);
      const busy = held.find(
        (lock) => isSameProject(lock.project_path, wish.projectPath) && !isReserved(lock),
      );
      if (busy !== undefined) return { busy };
      const holder = this.#holder(wish);
      const path = this.#pathOf(wish.projectPath);
      // No other process changes a lock meanwhile, except an owner that removes its own.
      if (held.some(isReserved)) replaceLock(path, holder);
      else {
        const other = await this.#files.claim(path, holder);
        if (other !== undefined) return { busy: other };
      }
      await this.#sweep(path, wish.taskId, names);
      return { held: { holder, release: () => this.#files.release(path, holder) } };
    });
  }

  /**
   * A critical section: runs `act` while no other process takes a lock. What `act` reads of locks and queue does not change until
   * it is done. It must be short, and must not begin another one. When it throws, what it reserved is released. Throws
   * STATE_UNUSABLE when other processes do not leave theirs.
   */
  exclusively<T>(act: (table: LockTable) => Promise<T>): Promise<T> {
    return this.#inSection(act);
  }

  /** All locks as they are now; they may change at once. */
  async table(): Promise<Pick<LockTable, 'held' | 'dead'>> {
    return this.#read(await this.#names());
  }

  /** Who holds the project now; undefined when it is free, or its owner is provably dead. */
  async holderOf(projectPath: string): Promise<LockHolder | undefined> {
    const path = this.#pathOf(projectPath);
    const lock = await readLock(path);
    if (lock.state === 'newer') throw newerLock(path);
    if (lock.state !== 'held') return undefined;
    return (await this.#ownerState(lock.holder.owner)) === 'gone' ? undefined : lock.holder;
  }

  /**
   * For a process that leaves now, perhaps in the middle of a critical section: it releases the mutex at once, and reservations
   * that it could not release before. Other locks of projects stay: they are their tasks'. No critical section begins afterwards.
   */
  dispose(): void {
    this.#disposed = true;
    this.#payingBack?.dispose();
    const own = this.#known;
    // No lock was taken without it.
    if (own === undefined) return;
    for (const name of namesAtOnce(this.#lockDir)) {
      const path = join(this.#lockDir, name);
      const isPassing = name === MUTEX_NAME || name.endsWith(TEMPORARY_SUFFIX) || this.#owed.has(path);
      const owner = isPassing ? readLockAtOnce(path)?.owner : undefined;
      if (owner !== undefined && isSameIdentity(owner, own)) rmSync(path, { force: true });
    }
  }

  #inSection<T>(act: CriticalSection<T>): Promise<T> {
    const section = this.#last.then(() => this.#orReleased(act));
    // An error is reported to the caller of that section.
    this.#last = section.catch(() => undefined);
    return section;
  }

  async #orReleased<T>(act: CriticalSection<T>): Promise<T> {
    const reserved: Lock[] = [];
    try {
      return await this.#withMutex(act, reserved);
    } catch (error) {
      // The caller knows none of them. Each is released in a critical section of its own, after this one.
      for (const lock of reserved) void lock.release();
      throw error;
    }
  }

  async #withMutex<T>(act: CriticalSection<T>, reserved: Lock[]): Promise<T> {
    const path = join(this.#lockDir, MUTEX_NAME);
    const holder = await this.#enter(path);
    try {
      const names = await this.#names();
      await this.#sweep(path, holder.task_id, names);
      const { held, dead } = await this.#read(names);
      const table: LockTable = {
        held,
        dead,
        reserve: async (wish) => {
          const lock = await this.#reserve(wish);
          reserved.push(lock);
          return lock;
        },
        clear: (lock) => rm(this.#pathOf(lock.project_path), { force: true }),
      };
      return await act(table, names);
    } finally {
      await this.#files.release(path, holder);
    }
  }

  async #enter(path: string): Promise<LockHolder> {
    if (this.#disposed) {
      throw new BridgeError(
        'STATE_UNUSABLE',
        'A task was to be started or ended while the bridge was leaving.',
        'Call again when the bridge runs again.',
      );
    }
    this.#known ??= await ownIdentity();
    const wish = { projectPath: this.#lockDir, taskId: createSecret(), owner: this.#known };
    const giveUpMs = this.#clock.monotonicMs() + MUTEX_LIMIT_MS;
    for (;;) {
      const holder = this.#holder(wish);
      const busy = await this.#files.claim(path, holder);
      if (busy === undefined) return holder;
      if (this.#clock.monotonicMs() > giveUpMs) {
        throw new BridgeError(
          'STATE_UNUSABLE',
          `Another process (${busy.owner.pid}) has held the lock over all projects since ${busy.since}.`,
          `If that process was stopped, let it go on or end it; it holds ${path}.`,
        );
      }
      await sleep(this.#clock, MUTEX_RETRY_MS);
    }
  }

  async #reserve(wish: LockWish): Promise<Lock> {
    const path = this.#pathOf(wish.projectPath);
    const holder: LockHolder = { ...this.#holder(wish), reserved: true };
    const busy = await this.#files.claim(path, holder);
    if (busy !== undefined) {
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The lock of ${wish.projectPath} was taken by ${busy.task_id} while it was being given out.`,
        'Start the task again; if it happens again, update every bridge that is installed.',
      );
    }
    // In a critical section, since the task's keeper may be taking it at this moment.
    return { holder, release: () => this.#giveBack(path, holder) };
  }

  async #giveBack(path: string, holder: LockHolder): Promise<'released' | 'lost' | 'later'> {
    try {
      const released = await this.exclusively(() => this.#files.release(path, holder));
      this.#owed.delete(path);
      return released;
    } catch (error) {
      if (!(error instanceof BridgeError) && systemCodeOf(error) === undefined) throw error;
      // Else the project would be held for as long as this process lives.
      this.#owed.set(path, holder);
      this.#payLater();
      return 'later';
    }
  }

  #payLater(): void {
    if (this.#disposed) return;
    this.#payingBack ??= this.#clock.after(GIVE_BACK_RETRY_MS, () => {
      this.#payingBack = undefined;
      // What fails again asks for the next try by itself.
      for (const [path, holder] of this.#owed) void this.#giveBack(path, holder);
    });
  }

  /** Leftovers of dead takers lie in nobody's way: what cannot be swept now is tried again by the next one. */
  async #sweep(path: string, taskId: string, names: readonly string[]): Promise<void> {
    try {
      await this.#files.sweep(path, taskId, names);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  async #read(names: readonly string[]): Promise<Pick<LockTable, 'held' | 'dead'>> {
    const held: LockHolder[] = [];
    const dead: LockHolder[] = [];
    const read = names
      .filter((name) => LOCK_NAME.test(name))
      .map(async (name) => {
        const lock = await readLock(join(this.#lockDir, name));
        if (lock.state !== 'held') return;
        ((await this.#ownerState(lock.holder.owner)) === 'gone' ? dead : held).push(lock.holder);
      });
    await Promise.all(read);
    return { held, dead };
  }

  /** The folder may be gone; the next lock makes it again. */
  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#lockDir);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The locks in ${this.#lockDir} cannot be listed: ${messageOf(error)}.`,
        'Check that the folder is yours and not too many files are open; MCP_STATE_DIR names another place.',
        { cause: error },
      );
    }
  }

  #holder({ projectPath, taskId, owner }: LockWish): LockHolder {
    const since = new Date(this.#clock.now()).toISOString();
    return { project_path: projectPath, task_id: taskId, owner, since };
  }

  /** The folder of locks lies in the state directory. */
  #ownerState(owner: ProcessIdentity): Promise<ProcessState> {
    return ownerState(owner, { statePath: dirname(this.#lockDir), clock: this.#clock });
  }

  #pathOf(projectPath: string): string {
    return join(this.#lockDir, createHash('sha256').update(projectPath).digest('hex'));
  }
}

function namesAtOnce(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    // No folder, no lock; the next critical section reports one that cannot be listed.
    if (systemCodeOf(error) !== undefined) return [];
    throw error;
  }
}
