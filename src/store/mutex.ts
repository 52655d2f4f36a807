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

export interface MutexPlace {
  /** Made if it is missing. */
  readonly folder: string;
  /** The beginning of the file names in it. */
  readonly name: string;
  readonly statePath: string;
}

/** Ends the hold; synchronous, for a process that exits. Does nothing the second time. */
export type Release = () => void;

/** Taken, or the process that has it, since when (ISO 8601 in UTC), and its file. */
export type TakenMutex =
  | { readonly release: Release }
  | { readonly busy: { readonly pid: number; readonly since: string; readonly path: string } };

/** One file: `<name>.<number>` of a holder, `<name>.<number>.free` of one that has left. */
interface Generation {
  readonly number: number;
  readonly isFree: boolean;
  readonly path: string;
}

/**
 * Takes a mutex: one holder at a time over all processes of the user, also on a full disk. The file with the highest number counts; it is
 * a link whose text names its process (`linkToSelf`). The holder renames it when it leaves, so that no number is used twice. Who finds
 * it free, or its process gone, makes the next number; of several one succeeds. A process that was halted between reading and making
 * finds a higher number afterwards, and takes its own back. Throws STATE_UNUSABLE when the disk does not let it.
 */
export async function takeMutex(place: MutexPlace): Promise<TakenMutex> {
  const { folder, name, statePath } = place;
  const unusable = (what: string, hint: string, cause?: unknown): BridgeError =>
    new BridgeError('STATE_UNUSABLE', `The lock ${join(folder, name)} ${what}`, hint, { cause });
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
    await requireOwnState(statePath);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const taken = await tryToTake(place);
      if (taken !== undefined) return taken;
    }
  } catch (error) {
    if (error instanceof BridgeError || systemCodeOf(error) === undefined) throw error;
    throw unusable(
      `cannot be taken: ${messageOf(error)}.`,
      'Check that the folder is yours and not too many files are open; MCP_STATE_DIR names another place.',
      error,
    );
  }
  throw unusable('could not be acquired: it kept changing.', 'Try again.');
}

/** Undefined when another process was faster. */
async function tryToTake(place: MutexPlace): Promise<TakenMutex | undefined> {
  const [newest] = generations(place);
  if (newest?.isFree === false) {
    const since = lstatSync(newest.path, { throwIfNoEntry: false })?.mtime.toISOString();
    const { pid, state } = await linkedProcess(newest.path, place.statePath);
    if (state !== 'gone' && since !== undefined) return { busy: { pid, since, path: newest.path } };
  }
  const number = 1 + (newest?.number ?? 0);
  const path = join(place.folder, `${place.name}.${number}`);
  if (!(await linkToSelf(path, place.statePath))) return undefined;
  const [now, ...older] = generations(place);
  if (now?.path !== path) {
    removeLink(path);
    return undefined;
  }
  try {
    for (const old of older) if (old.number < number - KEPT_GENERATIONS) removeLink(old.path);
  } catch (error) {
    // What cannot be removed now is in no one's way; the next holder tries again.
    if (systemCodeOf(error) === undefined) throw error;
  }
  return { release: releaseOf(path) };
}

/** The newest first; of a number that is free, and is not, the free one. */
function generations({ folder, name }: MutexPlace): Generation[] {
  const found = readdirSync(folder).flatMap((entry) => {
    if (!entry.startsWith(`${name}.`)) return [];
    const isFree = entry.endsWith(FREE);
    const number = Number(entry.slice(name.length + 1, isFree ? -FREE.length : undefined));
    return Number.isSafeInteger(number) && number > 0 ? [{ number, isFree, path: join(folder, entry) }] : [];
  });
  return found.sort((a, b) => b.number - a.number || Number(b.isFree) - Number(a.isFree));
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
    // A disk that fails once must not hold up every process of the user.
    for (let tries = 1; ; tries++) {
      try {
        return renameSync(path, path + FREE);
      } catch (error) {
        // A folder that was removed took the lock with it.
        if (systemCodeOf(error) === 'ENOENT') return;
        if (tries > 1) throw error;
      }
    }
  };
}
