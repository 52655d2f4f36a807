import { lstatSync, mkdirSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { requireOwnState } from './machine.js';
import { linkedProcess, linkToSelf } from './owner-state.js';

const OWNER_ONLY = 0o700;
const FREE = '.free';
/** So many older generations stay, so that a process that lists them meanwhile sees one. */
const KEPT_GENERATIONS = 2;
/** Each try that fails means that another process got it. */
const MAX_TRIES = 1_000;

export interface MutexOptions {
  /** Made if it is missing. */
  readonly folder: string;
  /** The beginning of the file names in it. */
  readonly name: string;
  readonly statePath: string;
}

export interface MutexHolder {
  readonly pid: number;
  /** ISO 8601 in UTC. */
  readonly since: string;
  readonly path: string;
}

/** Ends the hold; synchronous, for a process that exits. Does nothing the second time. */
export type Release = () => void;

/** One file: `<name>.<number>` of a holder, `<name>.<number>.free` of one that has left. */
interface Generation {
  readonly number: number;
  readonly isFree: boolean;
  readonly path: string;
}

/**
 * One holder at a time over all processes of the user, also on a full disk. The file with the highest number counts; it is a
 * link whose text names its process (`linkToSelf`). The holder renames it when it leaves, so that no number is used twice. Who finds
 * it free, or its process gone, makes the next number; of several one succeeds. A process that was halted between reading and making
 * finds a higher number afterwards, and takes its own back.
 */
export class Mutex {
  readonly #options: MutexOptions;

  constructor(options: MutexOptions) {
    this.#options = options;
  }

  /** Takes it, or returns its holder. Throws STATE_UNUSABLE when the disk does not let it. */
  async take(): Promise<{ readonly release: Release } | { readonly busy: MutexHolder }> {
    const { folder, name, statePath } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
      await requireOwnState(statePath);
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const newest = this.#newest();
        const busy = newest === undefined ? undefined : await this.#holderOf(newest);
        if (busy !== undefined) return { busy };
        const number = 1 + (newest?.number ?? 0);
        const path = join(folder, `${name}.${number}`);
        if (!(await linkToSelf(path, statePath))) continue;
        const after = this.#newest();
        if (after?.number === number && !after.isFree) {
          this.#removeBefore(number - KEPT_GENERATIONS);
          return { release: releaseOf(path) };
        }
        removeLink(path);
      }
    } catch (error) {
      if (error instanceof BridgeError || systemCodeOf(error) === undefined) throw error;
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The lock ${join(folder, name)} cannot be taken: ${messageOf(error)}.`,
        'Check that the folder is yours and not too many files are open; MCP_STATE_DIR names another place.',
        { cause: error },
      );
    }
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The lock ${join(folder, name)} could not be acquired: it kept changing.`,
      'Try again.',
    );
  }

  /** Undefined for one that has left, or is gone. */
  async #holderOf({ isFree, path }: Generation): Promise<MutexHolder | undefined> {
    if (isFree) return undefined;
    const since = lstatSync(path, { throwIfNoEntry: false })?.mtime.toISOString();
    const { pid, state } = await linkedProcess(path, this.#options.statePath);
    return state === 'gone' || since === undefined ? undefined : { pid, since, path };
  }

  #newest(): Generation | undefined {
    let newest: Generation | undefined;
    for (const found of this.#generations()) {
      const isNewer = newest === undefined || found.number > newest.number;
      if (isNewer || (found.number === newest?.number && found.isFree)) newest = found;
    }
    return newest;
  }

  #generations(): Generation[] {
    const { folder, name } = this.#options;
    return readdirSync(folder).flatMap((entry) => {
      if (!entry.startsWith(`${name}.`)) return [];
      const isFree = entry.endsWith(FREE);
      const number = Number(entry.slice(name.length + 1, isFree ? -FREE.length : undefined));
      const path = join(folder, entry);
      return Number.isSafeInteger(number) && number > 0 ? [{ number, isFree, path }] : [];
    });
  }

  /** What cannot be removed now is in no one's way; the next holder tries again. */
  #removeBefore(limit: number): void {
    try {
      for (const old of this.#generations()) if (old.number < limit) removeLink(old.path);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }
}

/** Not by `rmSync`, which in some versions of Node.js leaves a link that points nowhere. */
function removeLink(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // The next holder was faster.
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

function releaseOf(path: string): Release {
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    // A folder that was removed took the lock with it. A disk that fails once must not hold up every process of the user.
    for (let tries = 1; lstatSync(path, { throwIfNoEntry: false }) !== undefined; tries++) {
      try {
        renameSync(path, path + FREE);
      } catch (error) {
        if (tries > 1) throw error;
      }
    }
  };
}
