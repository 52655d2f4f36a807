import { statSync } from 'node:fs';
import { withinMs, type Clock } from '../../base/clock.js';
import { nextEvent } from '../../base/event.js';
import type { StateDir } from '../../store/state-dir.js';
import type { TaskRecord } from '../task.js';
import type { KeptTaskName, TaskHost } from '../task-host.js';

/** A record that was written so short ago is the keeper's newest; what the session shows is not written for its own sake. */
const FRESH_MS = 1_000;
/** A keeper sends its record as soon as a client connects. */
const ANSWER_LIMIT_MS = 500;

/**
 * The record of a running task as its keeper has it, when the one on disk may be old: a keeper whose disk fails says so here alone. The
 * one from the disk when that is fresh, or when the keeper does not answer at once.
 */
export async function liveRecord(
  record: TaskRecord,
  { stateDir, host, clock }: { readonly stateDir: StateDir; readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord> {
  // A start is answered while that is still being written.
  const isAsked = record.status === 'starting';
  if (!isAsked && isFresh(stateDir.recordFile(record.task_id), clock)) return record;
  return (await recordOfKeeper(record, { host, clock })) ?? record;
}

/** The record of a running task as its keeper has it; undefined when it does not tell it at once. */
export async function recordOfKeeper(
  task: KeptTaskName,
  { host, clock }: { readonly host: TaskHost; readonly clock: Clock },
): Promise<TaskRecord | undefined> {
  try {
    const connecting = host.connect(task);
    const link = await withinMs(clock, ANSWER_LIMIT_MS, connecting);
    if (link === undefined) {
      // Nothing else would close one that comes too late.
      void connecting.then(
        (late) => late?.dispose(),
        () => undefined,
      );
      return undefined;
    }
    try {
      return await withinMs(clock, ANSWER_LIMIT_MS, nextEvent(link.onRecord));
    } finally {
      link.dispose();
    }
  } catch {
    // A keeper that cannot be reached now: what it last wrote is what is known.
    return undefined;
  }
}

/** Asked here and now, as the record was read: on a busy machine each step through the thread pool waits for its turn twice. */
function isFresh(path: string, clock: Clock): boolean {
  const writtenMs = lastWrittenMs(path);
  if (writtenMs === undefined) return false;
  // The clock counts whole milliseconds, a file parts of them, too.
  const ageMs = clock.now() - Math.floor(writtenMs);
  // From the future: the clock was set back, and the age says nothing.
  return ageMs >= 0 && ageMs < FRESH_MS;
}

function lastWrittenMs(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    // The state folder cannot be reached now: the keeper is asked.
    return undefined;
  }
}
