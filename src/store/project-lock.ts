import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { makeFolders } from '../base/files/folders.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Disposable } from '../base/lifecycle.js';
import { isSameProject } from '../projects/worktree-path.js';
import { takeMutex, type MutexPlace, type Release } from './mutex.js';
import { ownerState } from './owner-state.js';
import { ownIdentity } from './process-identity.js';
import { processIdentitySchema, type ProcessIdentity } from './process-place.js';

const LEASE_VERSION = 1;
const leaseSchema = z.object({
  version: z.literal(LEASE_VERSION),
  project_path: z.string(),
  task_id: z.string(),
  /** The process whose end frees the project. */
  owner: processIdentitySchema,
  /** ISO 8601 in UTC. */
  since: z.string(),
  /** True until the owner has handed it to the task's keeper. */
  reserved: z.boolean().optional(),
});

/** Which task has a project, by which process, and since when. */
export type LockHolder = Readonly<Omit<z.infer<typeof leaseSchema>, 'version'>>;

export interface CorruptLock {
  readonly path: string;
  readonly setAsideAs: string;
  readonly why: string;
}

export interface LockRequest {
  /** Real path of the project: two names of one folder are one lock only then. */
  readonly projectPath: string;
  readonly taskId: string;
}

/** A lock of this process, until it is released or handed over, or the process ends. */
export interface Lock {
  readonly holder: LockHolder;
  /** Works on a full disk, too; does nothing the second time, and after `handTo`. Throws the system's error. */
  release(): void;
  /**
   * Makes a process that has announced itself the owner, in a critical section: from now on its end frees the project. It releases the
   * lock by `releaseLease` with the path that is returned. Throws as `acquire`.
   */
  handTo(owner: ProcessIdentity): Promise<string>;
}

/** Releases a lease that another process has handed to this one. Only once: then another process may have it. */
export function releaseLease(path: string): void {
  rmSync(path, { force: true });
}

/** Which task has which project, while no other process may change that. */
export interface LockTable {
  /** Of living owners, and of those of whom that is not known; one for each task. */
  readonly held: readonly LockHolder[];
  /** Of owners that are provably dead: they hold nothing. */
  readonly dead: readonly LockHolder[];
  /**
   * Takes the project for a task that this process is about to start, until it is handed to the task's keeper. Only for a project that
   * is free in this table.
   */
  reserve(request: LockRequest): Promise<Lock>;
  /** Removes the lock of a dead owner; first what it left behind must be gone. */
  clear(dead: LockHolder): Promise<void>;
}

const OWNER_ONLY = 0o700;
const LEASE_NAME = /^[0-9a-f]{64}$/;
/** What `writeJsonFileAtomically` leaves when its process is killed. */
const UNFINISHED = /^\..*\.tmp$/;
/** A critical section takes a few milliseconds; a process that waits for one tries again this often. */
const MUTEX_RETRY_MS = 4;
/** Longer than a hundred critical sections take; a process that holds the mutex so long was stopped in the middle. */
const MUTEX_LIMIT_MS = 20_000;

/**
 * One running task a project, across all processes of the user. A folder and one that lies in it are one project. A **lease** is
 * `<lockDir>/<hash of the project's path>`: it is written in a critical section, and removed by its owner, or in a critical section when
 * the owner is dead.
 */
export class ProjectLocks implements Disposable {
  readonly #lockDir: string;
  readonly #statePath: string;
  readonly #clock: Clock;
  readonly #onCorrupt: (corrupt: CorruptLock) => void;
  readonly #mutex: MutexPlace;
  #release: Release | undefined;
  #disposed = false;
  /** The critical section before, in this process: they wait for each other here and not at the file. */
  #last: Promise<unknown> = Promise.resolve();

  /** The folder of locks lies in the state directory. */
  constructor(lockDir: string, clock: Clock, onCorrupt: (corrupt: CorruptLock) => void) {
    this.#lockDir = lockDir;
    this.#clock = clock;
    this.#onCorrupt = onCorrupt;
    this.#statePath = dirname(lockDir);
    const folder = join(this.#statePath, 'mutex');
    this.#mutex = { folder, name: 'locks', statePath: this.#statePath };
  }

  /**
   * Takes the project for a task of this process when the project, its parents and what lies in it are free; of any number of processes
   * that try at once one gets it. Throws BridgeError STATE_UNUSABLE when the disk does not let it.
   */
  acquire(request: LockRequest): Promise<{ readonly held: Lock } | { readonly busy: LockHolder }> {
    return this.exclusively(async ({ held }) => {
      const busy = held.find(({ project_path }) => isSameProject(project_path, request.projectPath));
      return busy === undefined ? { held: await this.#write(request, false) } : { busy };
    });
  }

  /**
   * A critical section: runs `act` while no other process takes a lock. What `act` reads of locks and queue does not change until
   * it is done, but for locks that their owners release. It must be short, and must not begin another one. When it throws, what it
   * reserved is released. Throws STATE_UNUSABLE when other processes do not leave theirs.
   */
  exclusively<T>(act: (table: LockTable) => Promise<T>): Promise<T> {
    const section = this.#last.then(() => this.#withMutex(act));
    // An error is reported to the caller of that section.
    this.#last = section.catch(() => undefined);
    return section;
  }

  /** All locks as they are now; they may change at once. */
  async table(): Promise<Pick<LockTable, 'held' | 'dead'>> {
    return this.#read(await this.#names());
  }

  /**
   * For a process that leaves now, perhaps in the middle of a critical section: it ends that at once. Locks of projects stay: they are
   * their tasks'. No critical section begins afterwards.
   */
  dispose(): void {
    this.#disposed = true;
    this.#release?.();
  }

  async #withMutex<T>(act: (table: LockTable) => Promise<T>): Promise<T> {
    const release = await this.#enter();
    this.#release = release;
    const reserved: Lock[] = [];
    const reserve = async (request: LockRequest): Promise<Lock> => {
      const lock = await this.#write(request, true);
      reserved.push(lock);
      return lock;
    };
    try {
      const names = await this.#names();
      // No other process writes one now, so its writer has died.
      for (const name of names.filter((one) => UNFINISHED.test(one)))
        await rm(join(this.#lockDir, name), { force: true });
      const { held, dead } = await this.#read(names, true);
      return await act({ held, dead, reserve, clear: (lock) => rm(this.#pathOf(lock), { force: true }) });
    } catch (error) {
      // The caller knows none of them.
      for (const lock of reserved) lock.release();
      throw error;
    } finally {
      release();
    }
  }

  async #enter(): Promise<Release> {
    const giveUpMs = this.#clock.monotonicMs() + MUTEX_LIMIT_MS;
    for (;;) {
      if (this.#disposed) {
        throw new BridgeError(
          'STATE_UNUSABLE',
          'A task was to be started or ended while the bridge was leaving.',
          'Try again when the bridge runs again.',
        );
      }
      const taken = await takeMutex(this.#mutex);
      if ('release' in taken) return taken.release;
      const { pid, since, path } = taken.busy;
      if (this.#clock.monotonicMs() > giveUpMs) {
        throw new BridgeError(
          'STATE_UNUSABLE',
          `Another process (${pid}) has held the lock over all projects since ${since}.`,
          `If that process was stopped, let it go on or end it; it holds ${path}.`,
        );
      }
      await sleep(this.#clock, MUTEX_RETRY_MS);
    }
  }

  async #write({ projectPath, taskId }: LockRequest, reserved: boolean): Promise<Lock> {
    const holder: LockHolder = {
      project_path: projectPath,
      task_id: taskId,
      owner: await ownIdentity(),
      since: new Date(this.#clock.now()).toISOString(),
      ...(reserved && { reserved }),
    };
    const path = this.#pathOf(holder);
    const write = (lease: object): Promise<void> =>
      writeJsonFileAtomically(path, { version: LEASE_VERSION, ...lease }, { durable: false });
    await makeFolders(this.#lockDir, OWNER_ONLY);
    await write(holder);
    let isHeld = true;
    const release = (): void => {
      // The second time the lease may be another process's. No other process removes or replaces what a living process holds.
      if (isHeld) releaseLease(path);
      isHeld = false;
    };
    const handTo = (owner: ProcessIdentity): Promise<string> =>
      this.exclusively(async () => {
        await write({ ...holder, owner, reserved: undefined });
        isHeld = false;
        return path;
      });
    return { holder, release, handTo };
  }

  async #read(names: readonly string[], setsAside = false): Promise<Pick<LockTable, 'held' | 'dead'>> {
    const held: LockHolder[] = [];
    const dead: LockHolder[] = [];
    const read = names
      .filter((name) => LEASE_NAME.test(name))
      .map(async (name) => {
        const holder = await this.#readLease(name, setsAside);
        if (holder === undefined) return;
        ((await ownerState(holder.owner, this.#statePath)) === 'gone' ? dead : held).push(holder);
      });
    await Promise.all(read);
    return { held, dead };
  }

  async #readLease(name: string, setsAside: boolean): Promise<LockHolder | undefined> {
    const path = join(this.#lockDir, name);
    const file = await readJsonFile(path, leaseSchema);
    if (file.state === 'corrupt' && setsAside) {
      const setAsideAs = `${path}.corrupt`;
      await rename(path, setAsideAs);
      this.#onCorrupt({ path, setAsideAs, why: file.why });
    }
    if (file.state !== 'ok') return undefined;
    const { version: _version, ...holder } = file.value;
    return holder;
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

  #pathOf({ project_path }: Pick<LockHolder, 'project_path'>): string {
    return join(this.#lockDir, createHash('sha256').update(project_path).digest('hex'));
  }
}
