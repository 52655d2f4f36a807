import { countedNoun } from '../../base/text.js';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { createSecret } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { takeMutex } from '../../store/mutex.js';
import { ownIdentity } from '../../store/process-identity.js';
import { placeOf } from '../../store/process-place.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { usualSocket } from '../../store/runtime-dir.js';
import type { StateDir } from '../../store/state-dir.js';
import { killKeeper } from '../../store/stuck-keeper.js';
import { projectFilePaths } from '../project-folder.js';
import { isFinal, isNative, type Decision, type TaskRecord } from '../task.js';
import { taskSpecSchema } from '../task-spec.js';
import { TaskUnreachable } from '../task-refusals.js';
import { initialRecord } from './initial-record.js';
import { readRecordFile, recordOf, writeRecordFile } from './record-file.js';

export interface RecoveryParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly endMarked: EndMarked;
  /** Called once for each task, by the process that gave it its end. */
  readonly onRecovered?: (record: TaskRecord) => void;
}

/** A recovery ends processes, which takes a second or two. */
const WAIT_LIMIT_MS = 20_000;
const CLAIM_RETRY_MS = 50;
/** What the writers of a task's files leave when they are killed in the middle of it. */
const unfinished = /^\..*\.tmp$|^journal\.ndjson\.next$/;

interface Recovery {
  /** How the task ended, where that is known better. */
  readonly ending?: Pick<TaskRecord, 'status' | 'reason'>;
  /** Ends a keeper that does not answer, before the record is read: a process that finds it gone then waits for this end. */
  readonly endKeeper?: () => Promise<void>;
  /** How long another server that recovers the task is waited for; 20 s when left out. */
  readonly waitMs?: number | undefined;
}

/**
 * The truthful end of a task whose keeper is gone: what the record last said stays, the status becomes `error` with the
 * reason, and processes, unfinished files, the socket and the lock that the keeper left behind are gone. Of all servers that
 * find it one does this, and all give the same record. Throws STATE_UNUSABLE when another one does not end it in time.
 */
export async function recoverTask(
  record: TaskRecord,
  parts: RecoveryParts,
  { ending, endKeeper, waitMs = WAIT_LIMIT_MS }: Recovery = {},
): Promise<TaskRecord> {
  const { stateDir } = parts;
  const latest = async () => recordOf(await readRecordFile(stateDir, record.task_id)) ?? record;
  const ended = async () => {
    const last = await latest();
    return isFinal(last.status) ? last : undefined;
  };
  const act = async (): Promise<TaskRecord> => {
    if ((await ended()) === undefined) await endKeeper?.();
    const last = await latest();
    if (isFinal(last.status)) return last;
    const recovered = await recover(last, parts, ending);
    // Last: who reads the end may rely on nothing being left, and a server that dies before it leaves the rest to the next.
    await writeRecordFile(stateDir, recovered);
    parts.onRecovered?.(recovered);
    return recovered;
  };
  try {
    return await withRecordClaim(record.task_id, parts, { limitMs: waitMs, whileBusy: ended, act });
  } catch (error) {
    // A disk that takes no claim takes no end either; but nothing of the task goes on running.
    if (error instanceof BridgeError && error.code === 'STATE_UNUSABLE') {
      await endKeeper?.();
      await endAll(record, parts);
    }
    throw error;
  }
}

/**
 * The end of a task whose record cannot be read and whose keeper is gone: `error`, with `why` as its reason, and of the rest what its
 * spec says. Throws STATE_UNUSABLE when that cannot be read either, and as `recoverTask`.
 */
export async function endUnreadable(taskId: string, why: string, parts: RecoveryParts): Promise<TaskRecord> {
  const { stateDir } = parts;
  const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
  if (file.state !== 'ok') {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `${why} No process keeps task ${taskId} any more, and its spec cannot be read either.`,
      ['Its log and journal are still there.', { do: 'start' }],
    );
  }
  const spec = file.value;
  const record = initialRecord({
    spec,
    prompt: '',
    owner: null,
    // The one that its processes carry stood in the record.
    mark: createSecret(),
    socketPath: usualSocket(stateDir.path, taskId),
    files: projectFilePaths(spec.worktree?.project_path ?? spec.project_path, taskId),
  });
  return recoverTask(record, parts, { ending: { status: 'error', reason: why } });
}

/**
 * Ends a task whose keeper does not answer: the keeper is killed, also one that was halted, and what it leaves is ended here. Throws
 * TASK_UNREACHABLE for a keeper that may not be signalled, or that the kernel holds.
 */
export async function endStuckTask(
  record: TaskRecord,
  reason: string,
  parts: RecoveryParts,
): Promise<TaskRecord> {
  const { task_id: taskId, keeper } = record;
  if (keeper === null) throw new TaskUnreachable(taskId, 'it has no keeper yet');
  const cannotEnd = (why: string) => new TaskUnreachable(taskId, why, { endByHand: keeper.pid });
  return recoverTask(record, parts, {
    ending: { status: 'killed', reason: `${reason} Its keeper did not answer and was ended, too.` },
    endKeeper: () => killKeeper({ keeper, clock: parts.clock, cannotEnd }),
  });
}

/**
 * Runs `act` while no other process writes the task's record in its keeper's place. `whileBusy` is asked while another
 * one does: what it gives is the answer, without `act`. Throws STATE_UNUSABLE when the other one does not end within `limitMs`, or the
 * disk takes no claim.
 */
export async function withRecordClaim<T>(
  taskId: string,
  { stateDir, clock }: { readonly stateDir: Pick<StateDir, 'path' | 'taskDir'>; readonly clock: Clock },
  options: {
    readonly limitMs: number;
    readonly act: () => Promise<T>;
    readonly whileBusy?: () => Promise<T | undefined>;
  },
): Promise<T> {
  const claim = { folder: stateDir.taskDir(taskId), name: 'record.claim', statePath: stateDir.path };
  const untilMs = clock.monotonicMs() + options.limitMs;
  for (;;) {
    const taken = await takeMutex(claim);
    if ('release' in taken) {
      try {
        return await options.act();
      } finally {
        taken.release();
      }
    }
    const answer = await options.whileBusy?.();
    if (answer !== undefined) return answer;
    const { pid, since, path } = taken.busy;
    if (clock.monotonicMs() > untilMs)
      throw new BridgeError(
        'STATE_UNUSABLE',
        `Task ${taskId} is being given its end by another process (${pid}) since ${since}.`,
        `Try again soon. If that process was stopped, let it go on or end it; it holds ${path}.`,
      );
    await sleep(clock, CLAIM_RETRY_MS);
  }
}

/** Ends what a task without a keeper left running, and resolves with the number of processes. Rejects when the system does not list them. */
export function endLeftovers(
  { process_mark, keeper }: TaskRecord,
  { endMarked }: Pick<RecoveryParts, 'endMarked'>,
): Promise<number> {
  return endMarked(process_mark, keeper?.start_time ?? undefined);
}

async function recover(
  record: TaskRecord,
  parts: RecoveryParts,
  ending: Recovery['ending'],
): Promise<TaskRecord> {
  const count = await endAll(record, parts);
  const closed_at = await lastSign(record, parts);
  const reason = ending?.reason ?? `${await whatHappened(record)} while the task was ${record.status}.`;
  const processes = countedNoun(count, 'process', 'processes');
  const left = ` ${processes} of the task still ran and ${count === 1 ? 'was' : 'were'} ended.`;
  const withdrawn = { verdict: 'withdrawn', answered_by: 'session', reason: 'the task ended' } as const;
  const closed = (one: Decision) => (one.closed_at === null ? { ...one, ...withdrawn, closed_at } : one);
  await removeLeftovers(record, parts);
  return {
    ...record,
    status: ending?.status ?? 'error',
    status_source: 'observed',
    reason: count > 0 ? `${reason}${left}` : reason,
    activity: '',
    ended_at: closed_at,
    elapsed_seconds: secondsUntil(closed_at, record),
    decisions: record.decisions.map(closed),
    // No more attempts.
    storage: record.storage?.replace(/^failing since (\S+?):/, 'the disk failed from $1 to the end:') ?? null,
    change_seq: record.change_seq + 1,
  };
}

/** How many there were. */
function endAll(record: TaskRecord, parts: RecoveryParts): Promise<number> {
  return endLeftovers(record, parts).catch((error: unknown) => {
    const { task_id } = record;
    parts.logger.error('processes of a dead keeper could not be ended', { task_id, error: messageOf(error) });
    return 0;
  });
}

/** Socket, unfinished files, and the lock of the project; one that stays is taken over by the project's next task. */
async function removeLeftovers({ task_id, socket_path }: TaskRecord, parts: RecoveryParts): Promise<void> {
  const { stateDir, clock, logger } = parts;
  const attempt = (what: string, act: () => Promise<unknown>): Promise<unknown> =>
    act().catch((error: unknown) =>
      logger.warn(`${what} of a dead keeper could not be removed`, { task_id, error: messageOf(error) }),
    );
  await attempt('the socket', async () => socket_path !== '' && rm(socket_path, { force: true }));
  await attempt('unfinished files', async () => {
    const folder = stateDir.taskDir(task_id);
    for (const name of await readdir(folder))
      if (unfinished.test(name)) await rm(join(folder, name), { force: true });
  });
  await attempt('the lock', () => {
    const locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
      logger.error('a lock file could not be read', { ...corrupt }),
    );
    return locks.exclusively(async (table) => {
      for (const lock of table.dead) if (lock.task_id === task_id) await table.clear(lock);
    });
  });
}

async function whatHappened(record: TaskRecord): Promise<string> {
  const { keeper } = record;
  const own = await ownIdentity();
  if (keeper !== null && placeOf(keeper, own) === 'elsewhere')
    return 'The process that kept this task, in another container, is gone';
  const bootThen = keeper?.boot_id ?? null;
  if (own.boot_id !== null && bootThen !== null && own.boot_id !== bootThen)
    return 'The machine was restarted, which ended the process that kept this task,';
  if (isNative(record))
    return 'The server of the bridge in this session ended without a word (it was killed, or it crashed); the session is its person’s and may go on,';
  return 'The process that kept this task ended without a word (it was killed, or it crashed)';
}

/** When the task last wrote something: its end was not seen. Never before its start, whatever was done to the clock. */
async function lastSign(record: TaskRecord, { stateDir, clock }: RecoveryParts): Promise<string> {
  const { task_id: id, log_file, started_at, created_at } = record;
  const paths = [stateDir.recordFile(id), stateDir.journalFile(id), stateDir.recordingFile(id), log_file];
  // One that is missing says nothing.
  const facts = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  const lastMs = Math.max(...facts.map((one) => one?.mtimeMs ?? 0));
  const seenMs = lastMs > 0 ? Math.min(lastMs, clock.now()) : clock.now();
  const startedMs = Date.parse(started_at ?? created_at);
  return new Date(Number.isNaN(startedMs) ? seenMs : Math.max(startedMs, seenMs)).toISOString();
}

/** The record was last written some time before its last sign of life. */
function secondsUntil(ended: string, { started_at, elapsed_seconds }: TaskRecord): number {
  if (started_at === null) return elapsed_seconds;
  return Math.max(elapsed_seconds, Math.floor((Date.parse(ended) - Date.parse(started_at)) / 1_000));
}
