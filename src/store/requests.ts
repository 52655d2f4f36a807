import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, ignoreBridgeError, ignoreMissing, ignoreSystemError } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Once, OnceWork } from '../base/once.js';
import { takeMutex, type Release } from './mutex.js';

/** A caller repeats a call when its line is back: after a weekend at the latest. */
const KEPT_MS = 7 * 86_400_000;
/** Far more than one user's callers make in the time in which they repeat one. */
const MAX_KEPT = 2_000;
/** Calls between two removals of old ones. */
const PRUNE_INTERVAL = 100;
/** Another call with the same id is waited for so long: each call is answered within 45 s. */
const WAIT_LIMIT_MS = 40_000;
const LOOK_INTERVAL_MS = 25;
/** After these errors the work may have been done all the same. */
const DOUBTFUL = ['STATE_UNUSABLE', 'TASK_UNREACHABLE', 'PROCESS_UNREACHABLE', 'OUTCOME_UNKNOWN'];

/** The name of a request in the state directory: 64 hexadecimal digits. */
export function requestKey(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/**
 * The calls with a request id, over all processes of the user: `requests/<requestKey>/request.json` has the digest of the arguments, what
 * was noted, and the outcome. The mutex beside it is held by the process that does the work, so that of several one does it and the others
 * wait; a process that died holds none.
 */
export class Requests {
  readonly #path: string;
  readonly #statePath: string;
  readonly #clock: Clock;
  #calls = 0;

  constructor(statePath: string, clock: Clock) {
    this.#path = join(statePath, 'requests');
    this.#statePath = statePath;
    this.#clock = clock;
  }

  readonly once: Once = async (id, asked, work) => {
    if (id === undefined) return work.act(() => Promise.resolve());
    // What cannot be removed now is removed later.
    if (this.#calls++ % PRUNE_INTERVAL === 0) await this.#prune().catch(() => undefined);
    const name = requestKey(id);
    const release = await this.#take(name);
    try {
      return await this.#inTurn(join(this.#path, name, 'request.json'), asked, work);
    } finally {
      release();
    }
  };

  /** For the holder of the mutex. */
  async #inTurn<T, N>(path: string, asked: object, work: OnceWork<T, N>): Promise<T> {
    const digest = requestKey(sortedJson(asked));
    const write = (rest: { readonly note: N } | { readonly outcome: T }): Promise<void> =>
      writeJsonFileAtomically(path, { digest, ...rest });
    const shape = { digest: z.string(), note: work.note.optional(), outcome: work.outcome.optional() };
    // Of another call the values have another form.
    const other = await readJsonFile(path, z.object({ digest: z.string() }));
    if (other.state === 'ok' && other.value.digest !== digest) throw otherCall();
    const before = await readJsonFile(path, z.object(shape));
    if (before.state === 'corrupt')
      throw new BridgeError('OUTCOME_UNKNOWN', `The file ${path} cannot be read: ${before.why}.`, NOT_DONE);
    const { note, outcome } = before.state === 'ok' ? before.value : {};
    if (outcome !== undefined) return outcome;
    const found = note === undefined ? undefined : await work.resume(note);
    const done = found ?? (await this.#act(path, work, write));
    // Without it, the next one resumes from what was noted.
    await write({ outcome: done }).catch(ignoreBridgeError);
    return done;
  }

  /** What was refused is forgotten: the next call with the id is a first one. */
  async #act<T, N>(
    path: string,
    work: OnceWork<T, N>,
    write: (noted: { readonly note: N }) => Promise<void>,
  ): Promise<T> {
    try {
      return await work.act((note) => write({ note }));
    } catch (error) {
      const isRefusal = error instanceof BridgeError && !DOUBTFUL.includes(error.code);
      if (isRefusal) await rm(path, { force: true }).catch(ignoreSystemError);
      throw error;
    }
  }

  async #take(name: string): Promise<Release> {
    const untilMs = this.#clock.monotonicMs() + WAIT_LIMIT_MS;
    for (;;) {
      const taken = await takeMutex(this.#mutex(name));
      if ('release' in taken) return taken.release;
      const { pid, since } = taken.busy;
      if (this.#clock.monotonicMs() > untilMs)
        throw new BridgeError(
          'OUTCOME_UNKNOWN',
          `A call with the same request_id is at work in process ${pid} since ${since}.`,
          'Nothing was done a second time. Repeat the call for its outcome.',
        );
      await sleep(this.#clock, LOOK_INTERVAL_MS);
    }
  }

  #mutex(name: string) {
    return { folder: join(this.#path, name), name: 'claim', statePath: this.#statePath };
  }

  /** Removes what is old, and what is too much. Throws STATE_UNUSABLE and the system's error. */
  async #prune(): Promise<void> {
    const names = (await readdir(this.#path).catch(ignoreMissing)) ?? [];
    const used = names.map(async (name) => {
      const facts = await stat(join(this.#path, name)).catch(ignoreMissing);
      return { name, usedMs: facts?.mtimeMs ?? 0 };
    });
    const newestFirst = (await Promise.all(used)).sort((a, b) => b.usedMs - a.usedMs);
    for (const [index, { name, usedMs }] of newestFirst.entries()) {
      if (index < MAX_KEPT && this.#clock.now() - usedMs < KEPT_MS) continue;
      // One that is at work stays. The mutex goes with the folder.
      if ('release' in (await takeMutex(this.#mutex(name))))
        await rm(join(this.#path, name), { recursive: true, force: true });
    }
  }
}

/**
 * Whether what a dead process began is there, or comes to be: `isAtWork` says whether another process still makes it. Throws
 * OUTCOME_UNKNOWN for one that takes too long; `what` names it.
 */
export async function isMade(
  what: string,
  clock: Clock,
  look: { readonly isAtWork: () => Promise<boolean>; readonly isThere: () => Promise<boolean> },
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + WAIT_LIMIT_MS;
  for (;;) {
    // First: who leaves has made it.
    const isAtWork = await look.isAtWork();
    if (await look.isThere()) return true;
    if (!isAtWork) return false;
    if (clock.monotonicMs() > untilMs)
      throw new BridgeError('OUTCOME_UNKNOWN', `The keeper of ${what} is still being started.`, NOT_DONE);
    await sleep(clock, LOOK_INTERVAL_MS);
  }
}

const NOT_DONE = 'Nothing was done a second time. Repeat the call later.';

function otherCall(): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    'This request_id was used for a call with other arguments before, and one id is for one call.',
    'Nothing was done. Give a new call an id of its own, and repeat a call with the same arguments; a path that is left out or relative counts as what it means now.',
  );
}

/** The same for equal arguments, in whichever order they were given. */
function sortedJson(asked: object): string {
  return JSON.stringify(asked, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
