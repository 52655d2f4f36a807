import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { requireOwnState } from './machine.js';
import { announce, ownText, stateOfText } from './presence.js';

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
}

/**
 * One holder at a time over all processes of the user, also on a full disk. The file with the highest number counts. It is a
 * symbolic link that points nowhere: its text names the process, and link and text come into being in one step. The holder renames it
 * when it leaves, so that no number is used twice. Who finds it free, or its process gone, makes the next number; of several
 * one succeeds. A process that was halted between reading and making finds a higher number afterwards, and takes its own back.
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
      await announce(statePath);
      const own = await ownText();
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const newest = this.#newest();
        const busy = newest === undefined ? undefined : await this.#holderOf(newest);
        if (busy !== undefined) return { busy };
        const number = 1 + (newest?.number ?? 0);
        if (!linked(own, this.#pathOf({ number, isFree: false }))) continue;
        const after = this.#newest();
        if (after?.number === number && !after.isFree) {
          this.#removeBefore(number - KEPT_GENERATIONS);
          return { release: this.#releaseOf(number) };
        }
        removed(this.#pathOf({ number, isFree: false }));
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
      'Call again.',
    );
  }

  /** The holder, unless that process is gone. Throws the system's error. */
  async holder(): Promise<MutexHolder | undefined> {
    const newest = this.#newest();
    return newest === undefined ? undefined : this.#holderOf(newest);
  }

  async #holderOf(generation: Generation): Promise<MutexHolder | undefined> {
    if (generation.isFree) return undefined;
    const path = this.#pathOf(generation);
    try {
      const text = readlinkSync(path);
      const since = lstatSync(path).mtime.toISOString();
      const state = await stateOfText(text, this.#options.statePath);
      return state === 'gone' ? undefined : { pid: Number.parseInt(text, 10) || 0, since, path };
    } catch (error) {
      // It has left since.
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
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
    let names: string[];
    try {
      names = readdirSync(folder);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
    return names.flatMap((entry) => {
      if (!entry.startsWith(`${name}.`)) return [];
      const isFree = entry.endsWith(FREE);
      const number = Number(entry.slice(name.length + 1, isFree ? -FREE.length : undefined));
      return Number.isSafeInteger(number) && number > 0 ? [{ number, isFree }] : [];
    });
  }

  /** What cannot be removed now is in no one's way; the next holder tries again. */
  #removeBefore(limit: number): void {
    try {
      for (const old of this.#generations()) if (old.number < limit) removed(this.#pathOf(old));
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  #releaseOf(number: number): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [held, free] = [this.#pathOf({ number, isFree: false }), this.#pathOf({ number, isFree: true })];
      // A disk that fails once must not hold up every process of the user.
      if (!renamed(held, free)) renameSync(held, free);
    };
  }

  #pathOf({ number, isFree }: Generation): string {
    const { folder, name } = this.#options;
    return join(folder, `${name}.${number}${isFree ? FREE : ''}`);
  }
}

/** False when the name is taken. */
function linked(text: string, path: string): boolean {
  try {
    symlinkSync(text, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** False when the disk does not let it. A folder that was removed took the lock with it. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return systemCodeOf(error) === 'ENOENT';
  }
}

function removed(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
