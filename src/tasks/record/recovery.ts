import { countedNoun } from '../../base/text.js';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { createSecret } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { Mutex, type MutexHolder } from '../../store/mutex.js';
import { ownIdentity } from '../../store/process-identity.js';
import { placeOf } from '../../store/process-place.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { usualSocket } from '../../store/runtime-dir.js';
import type { StateDir } from '../../store/state-dir.js';
import { projectFilePaths } from '../project-folder.js';
import { initialRecord } from './initial-record.js';
import { readRecordFile, writeRecordFile } from './record-file.js';
import { isFinal, isNative, type TaskRecord } from '../task.js';
import { taskSpecSchema } from '../task-spec.js';

export interface RecoveryParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly endMarked: EndMarked;
  /** Called once for each task, by the process that gave it its end. */
  readonly onRecovered?: (record: TaskRecord) => void;
}

type Ending = Pick<TaskRecord, 'status' | 'reason'>;

/** A recovery ends processes, which takes a second or two. */
const WAIT_LIMIT_MS = 20_000;
const CLAIM = 'record.claim';
const CLAIM_RETRY_MS = 50;
/** What the writers of a task's files leave when they are killed in the middle of it. */
const unfinished = /^\..*\.tmp$|^journal\.ndjson\.next$/;

export interface Recovery {
  /** How the task ended, where that is known better. */
  readonly ending?: Ending;
  /** Ends a keeper that does not answer, before the record is read: a process that finds it gone then waits for this end. */
  readonly endKeeper?: () => Promise<void>;
  /** How long another server that recovers the task is waited for; 20 s when left out. */
  readonly waitMs?: number;
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
  const latest = async (): Promise<TaskRecord> => {
    const file = await readRecordFile(parts.stateDir, record.task_id);
    return file.state === 'ok' ? file.record : record;
  };
  const ended = async (): Promise<TaskRecord | undefined> => {
    const last = await latest();
    return isFinal(last.status) ? last : undefined;
  };
  const recovering = withRecordClaim(record.task_id, parts, {
    limitMs: waitMs,
    whileBusy: ended,
    act: async () => {
      const already = await ended();
      if (already !== undefined) return already;
      await endKeeper?.();
      const last = await latest();
      if (isFinal(last.status)) return last;
      const recovered = await recover(last, parts, ending);
      // Last: who reads the end may rely on nothing being left, and a server that dies before it leaves the rest to the next.
      await writeRecordFile(parts.stateDir, recovered);
      parts.onRecovered?.(recovered);
      return recovered;
    },
  });
  return recovering.catch(async (error: unknown) => {
    // A disk that takes no claim takes no end either; but nothing of the task goes on running.
    if (error instanceof BridgeError && error.code === 'STATE_UNUSABLE') {
      await endKeeper?.();
      await endAll(record, parts);
    }
    throw error;
  });
}

/**
 * The end of a task whose record cannot be read and whose keeper is gone: `error`, with `why` as its reason, and of the rest what its
 * spec says. Throws STATE_UNUSABLE when that cannot be read either, and as `recoverTask`.
 */
export async function endUnreadable(taskId: string, why: string, parts: RecoveryParts): Promise<TaskRecord> {
  const { stateDir, clock } = parts;
  const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
  if (file.state !== 'ok') {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `${why} No process keeps task ${taskId} any more, and its spec cannot be read either.`,
      'Its log and journal are still there; start a new task with start_task.',
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
    now: clock.now(),
  });
  return recoverTask(record, parts, { ending: { status: 'error', reason: why } });
}

/**
 * Runs `act` while no other process writes the task's record in its keeper's place. `whileBusy` is asked while another
 * one does: what it gives is the answer, without `act`. Throws STATE_UNUSABLE when the other one does not end within `limitMs`, or the
 * disk takes no claim.
 */
export async function withRecordClaim<T>(
  taskId: string,
  { stateDir, clock }: { readonly stateDir: Pick<StateDir, 'path' | 'taskDir'>; readonly clock: Clock },
  {
    limitMs,
    act,
    whileBusy = () => Promise.resolve(undefined),
  }: {
    readonly limitMs: number;
    readonly act: () => Promise<T>;
    readonly whileBusy?: () => Promise<T | undefined>;
  },
): Promise<T> {
  const claim = new Mutex({ folder: stateDir.taskDir(taskId), name: CLAIM, statePath: stateDir.path });
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const taken = await claim.take();
    if ('release' in taken) {
      try {
        return await act();
      } finally {
        taken.release();
      }
    }
    const answer = await whileBusy();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > untilMs) throw stillBusy(taskId, taken.busy);
    await sleep(clock, CLAIM_RETRY_MS);
  }
}

function stillBusy(taskId: string, { pid, since, path }: MutexHolder): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Task ${taskId} is being given its end by another process (${pid}) since ${since}.`,
    `Call again soon. If that process was stopped, let it go on or end it; it holds ${path}.`,
  );
}

/** Ends what a task without a keeper left running, and resolves with the number of processes. Rejects when the system does not list them. */
export function endLeftovers(
  { process_mark, keeper }: TaskRecord,
  { endMarked }: Pick<RecoveryParts, 'endMarked'>,
): Promise<number> {
  return endMarked(process_mark, keeper?.start_time ?? undefined);
}

/** The record was last written some time before its last sign of life. */
function secondsUntil(ended: string | null, { started_at, elapsed_seconds }: TaskRecord): number {
  if (ended === null || started_at === null) return elapsed_seconds;
  return Math.max(elapsed_seconds, Math.floor((Date.parse(ended) - Date.parse(started_at)) / 1_000));
}

async function recover(
  record: TaskRecord,
  parts: RecoveryParts,
  ending: Ending | undefined,
): Promise<TaskRecord> {
  const { stateDir, logger } = parts;
  const leftovers = await endAll(record, parts);
  const ended = await lastSign(record, parts);
  const recovered: TaskRecord = {
    ...record,
    status: ending?.status ?? 'error',
    status_source: 'observed',
    reason: `${ending?.reason ?? `${await whatHappened(record)} while the task was ${record.status}.`}${
      leftovers > 0
        ? ` ${countedNoun(leftovers, 'process', 'processes')} of the task still ran and ${leftovers === 1 ? 'was' : 'were'} ended.`
        : ''
    }`,
    activity: '',
    ended_at: ended,
    elapsed_seconds: secondsUntil(ended, record),
    decisions: record.decisions.map((decision) =>
      decision.closed_at === null
        ? {
            ...decision,
            closed_at: ended,
            verdict: 'withdrawn',
            answered_by: 'session',
            reason: 'the task ended',
          }
        : decision,
    ),
    // No more attempts.
    storage: record.storage?.replace(/^failing since (\S+?):/, 'the disk failed from $1 to the end:') ?? null,
    change_seq: record.change_seq + 1,
  };
  if (record.socket_path !== '') {
    await rm(record.socket_path, { force: true }).catch((error: unknown) =>
      logger.warn('the socket of a dead keeper could not be removed', {
        path: record.socket_path,
        error: messageOf(error),
      }),
    );
  }
  await removeUnfinished(stateDir.taskDir(record.task_id)).catch((error: unknown) =>
    logger.warn('unfinished files of a dead keeper could not be removed', { error: messageOf(error) }),
  );
  await freeProject(record.task_id, parts).catch((error: unknown) =>
    logger.warn('the lock of a dead keeper could not be removed', { error: messageOf(error) }),
  );
  return recovered;
}

/** How many there were. */
function endAll(record: TaskRecord, parts: RecoveryParts): Promise<number> {
  return endLeftovers(record, parts).catch((error: unknown) => {
    const { task_id } = record;
    parts.logger.error('processes of a dead keeper could not be ended', { task_id, error: messageOf(error) });
    return 0;
  });
}

async function whatHappened(record: TaskRecord): Promise<string> {
  const { keeper } = record;
  const own = await ownIdentity();
  const place = keeper === null ? 'here' : placeOf(keeper, own);
  if (place === 'elsewhere') return 'The process that kept this task, in another container, is gone';
  const bootThen = keeper?.boot_id ?? null;
  if (own.boot_id !== null && bootThen !== null && own.boot_id !== bootThen)
    return 'The machine was restarted, which ended the process that kept this task,';
  if (isNative(record))
    return 'The server of the bridge in this session ended without a word (it was killed, or it crashed); the session is its person’s and may go on,';
  return 'The process that kept this task ended without a word (it was killed, or it crashed)';
}

/** When the task last wrote something: its end was not seen. Never before its start, whatever was done to the clock. */
async function lastSign(record: TaskRecord, { stateDir, clock }: RecoveryParts): Promise<string> {
  const paths = [
    stateDir.recordFile(record.task_id),
    stateDir.journalFile(record.task_id),
    stateDir.recordingFile(record.task_id),
    record.log_file,
  ];
  const times = await Promise.all(
    paths.map(async (path) => {
      // One that is missing says nothing.
      const facts = await stat(path).catch(() => undefined);
      return facts?.mtimeMs ?? 0;
    }),
  );
  const startedMs = Date.parse(record.started_at ?? record.created_at);
  const lastMs = Math.max(...times);
  const seenMs = lastMs > 0 ? Math.min(lastMs, clock.now()) : clock.now();
  return new Date(Number.isNaN(startedMs) ? seenMs : Math.max(startedMs, seenMs)).toISOString();
}

/** Nothing of the task is left, so its lock may go; one that stays is taken over by the project's next task. */
async function freeProject(taskId: string, { stateDir, clock, logger }: RecoveryParts): Promise<void> {
  const locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
    logger.error('a lock file could not be read', { ...corrupt }),
  );
  const { dead } = await locks.table();
  if (!dead.some((lock) => lock.task_id === taskId)) return;
  await locks.exclusively(async (table) => {
    for (const lock of table.dead) if (lock.task_id === taskId) await table.clear(lock);
  });
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (unfinished.test(name)) await rm(join(folder, name), { force: true });
  }
}
