import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, ignoreBridgeError, ignoreMissing, ignoreSystemError } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Once } from '../base/once.js';
import { takeMutex, type MutexPlace, type Release } from './mutex.js';

/** A caller repeats a call when its line is back: after a weekend at the latest. */
const KEPT_MS = 7 * 86_400_000;
/** Far more than the callers of one user make while one of them is away. */
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
 * was noted, and the outcome. The process that does the work holds the mutex beside it, so that of several one does it and the others
 * wait; one that died holds none.
 */
export class Requests {
  readonly #statePath: string;
  readonly #clock: Clock;
  #calls = 0;

  constructor(statePath: string, clock: Clock) {
    this.#statePath = statePath;
    this.#clock = clock;
  }

  readonly once: Once = async (id, asked, shapes, act) => {
    if (id === undefined) return act(() => Promise.resolve());
    // What cannot be removed now is removed later.
    if (this.#calls++ % PRUNE_INTERVAL === 0) await this.#prune().catch(() => undefined);
    const place = this.#placeOf(requestKey(id));
    const path = join(place.folder, 'request.json');
    const digest = requestKey(sortedJson(asked));
    const release = await this.#take(place);
    try {
      const { outcome, note: noted } = await readRequest(path, digest, shapes);
      if (outcome !== undefined) return outcome;
      let isNoted = noted !== undefined;
      const note = async (value: unknown): Promise<void> => {
        await writeJsonFileAtomically(path, { digest, note: value });
        isNoted = true;
      };
      const done = await act(note, noted).catch(async (error: unknown) => {
        // What was refused is forgotten: the next call with the id is a first one.
        const isRefusal = error instanceof BridgeError && !DOUBTFUL.includes(error.code);
        if (isRefusal || !isNoted) await rm(path, { force: true }).catch(ignoreSystemError);
        throw error;
      });
      // Without it, the next one goes by what was noted.
      await writeJsonFileAtomically(path, { digest, outcome: done }).catch(ignoreBridgeError);
      return done;
    } finally {
      release();
    }
  };

  async #take(place: MutexPlace): Promise<Release> {
    const untilMs = this.#clock.monotonicMs() + WAIT_LIMIT_MS;
    for (;;) {
      const taken = await takeMutex(place);
      if ('release' in taken) return taken.release;
      const busy = `A call with the same request_id is at work in process ${taken.busy.pid}.`;
      if (this.#clock.monotonicMs() > untilMs) throw unknown(busy);
      await sleep(this.#clock, LOOK_INTERVAL_MS);
    }
  }

  #placeOf(name: string): MutexPlace {
    const statePath = this.#statePath;
    return { folder: join(statePath, 'requests', name), name: 'claim', statePath };
  }

  /** Removes what is old, and what is too much. Throws STATE_UNUSABLE and the system's error. */
  async #prune(): Promise<void> {
    const names = (await readdir(join(this.#statePath, 'requests')).catch(ignoreMissing)) ?? [];
    const used = names.map(async (name) => {
      const place = this.#placeOf(name);
      return { place, usedMs: (await stat(place.folder).catch(ignoreMissing))?.mtimeMs ?? 0 };
    });
    const newestFirst = (await Promise.all(used)).sort((a, b) => b.usedMs - a.usedMs);
    for (const [index, { place, usedMs }] of newestFirst.entries()) {
      if (index < MAX_KEPT && this.#clock.now() - usedMs < KEPT_MS) continue;
      // One that is at work stays. The mutex goes with the folder.
      if ('release' in (await takeMutex(place))) await rm(place.folder, { recursive: true, force: true });
    }
  }
}

/**
 * Whether what a process began to make before it died is there, or comes to be: `isAtWork` says whether another process still makes it.
 * Throws OUTCOME_UNKNOWN for one that takes too long.
 */
export async function isMade(
  clock: Clock,
  isAtWork: () => Promise<boolean>,
  isThere: () => Promise<boolean>,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + WAIT_LIMIT_MS;
  for (;;) {
    // First: who leaves has made it.
    const mayCome = await isAtWork();
    if (await isThere()) return true;
    if (!mayCome) return false;
    if (clock.monotonicMs() > untilMs) throw unknown('What an earlier call began is still being started.');
    await sleep(clock, LOOK_INTERVAL_MS);
  }
}

/** Throws INVALID_ARGUMENTS for that of another call, and OUTCOME_UNKNOWN for what another version wrote. */
async function readRequest<Outcome, Note>(
  path: string,
  digest: string,
  { outcome, note }: { readonly outcome: z.ZodType<Outcome>; readonly note: z.ZodType<Note> },
): Promise<{ readonly outcome?: Outcome | undefined; readonly note?: Note | undefined }> {
  const other = await readJsonFile(path, z.object({ digest: z.string() }));
  if (other.state === 'ok' && other.value.digest !== digest) throw otherCall();
  const file = await readJsonFile(path, z.object({ outcome: outcome.optional(), note: note.optional() }));
  if (file.state === 'corrupt') throw unknown(`The file ${path} cannot be read: ${file.why}.`);
  return file.state === 'ok' ? file.value : {};
}

function otherCall(): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    'This request_id was used for a call with other arguments before, and one id is for one call.',
    'Nothing was done. Give a new call an id of its own, and repeat a call with the same arguments; a path that is left out or relative counts as what it means now.',
  );
}

function unknown(what: string): BridgeError {
  const hint = 'Nothing was done a second time. Repeat the call later for its outcome.';
  return new BridgeError('OUTCOME_UNKNOWN', what, hint);
}

/** The same for equal arguments, in whichever order they were given. */
function sortedJson(asked: object): string {
  return JSON.stringify(asked, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
