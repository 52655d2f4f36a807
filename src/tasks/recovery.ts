import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { messageOf, systemCodeOf } from '../base/errors.js';
import { writeJsonFileAtomically } from '../base/json-file.js';
import type { Logger } from '../base/logger.js';
import { ownIdentity, processState } from '../store/process-identity.js';
import { ProjectLocks } from '../store/project-lock.js';
import type { StateDir } from '../store/state-dir.js';
import { readRecordFile } from './record-file.js';
import { isFinal, processIdentitySchema, type TaskRecord } from './task.js';

export interface RecoveryParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly endMarked: (mark: string) => Promise<number>;
}

export type Ending = Pick<TaskRecord, 'status' | 'reason'>;

/** Who recovers a task now: of several servers one does, the others wait for its word. */
const CLAIM = 'recovery.claim';
const LOOK_INTERVAL_MS = 50;
/** A recovery ends processes, which takes a second or two; one that takes longer is done again by whoever waits. */
const CLAIM_LIMIT_MS = 10_000;
/** What the writers of a task's files leave when they are killed in the middle of it. */
const unfinished = /^\..*\.tmp$|^journal\.ndjson\.next$/;

/**
 * The truthful end of a task whose keeper is gone: what the record last said stays, the status becomes `error` with the
 * reason, and processes, unfinished files, the socket and the lock that the keeper left behind are gone. Of several servers that
 * find it at once one does this, and all give the same record. `ending`: how it ended, where that is known better.
 */
export async function recoverTask(
  record: TaskRecord,
  parts: RecoveryParts,
  ending?: Ending,
): Promise<TaskRecord> {
  const { stateDir, logger } = parts;
  const claim = join(stateDir.taskDir(record.task_id), CLAIM);
  const other = await waitForTurn(claim, record.task_id, parts);
  if (other !== undefined) return other;
  try {
    return await recover(record, parts, ending);
  } finally {
    await rm(claim, { force: true }).catch((fault: unknown) =>
      // The next one finds that its owner is gone, or waits in vain and then does it again.
      logger.warn('the claim of a recovery could not be removed', { path: claim, fault: messageOf(fault) }),
    );
  }
}

async function recover(
  record: TaskRecord,
  parts: RecoveryParts,
  ending: Ending | undefined,
): Promise<TaskRecord> {
  const { stateDir, logger, endMarked } = parts;
  const leftovers = await endMarked(record.process_mark).catch((fault: unknown) => {
    logger.error('processes of a dead keeper could not be ended', {
      task_id: record.task_id,
      fault: messageOf(fault),
    });
    return 0;
  });
  const ended = await lastSign(record, parts);
  const recovered: TaskRecord = {
    ...record,
    status: ending?.status ?? 'error',
    status_source: 'observed',
    reason: `${ending?.reason ?? `${await whatHappened(record)} while the task was ${record.status}.`}${
      leftovers > 0 ? ` ${leftovers} process(es) of the task were still there and were ended.` : ''
    }`,
    activity: '',
    ended_at: ended,
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
    // Nobody tries any more.
    storage: record.storage?.replace(/^failing since (\S+?):/, 'the disk failed from $1 to the end:') ?? null,
    change_seq: record.change_seq + 1,
  };
  if (record.socket_path !== '') {
    await rm(record.socket_path, { force: true }).catch((fault: unknown) =>
      logger.warn('the socket of a dead keeper could not be removed', {
        path: record.socket_path,
        fault: messageOf(fault),
      }),
    );
  }
  await removeUnfinished(stateDir.taskDir(record.task_id)).catch((fault: unknown) =>
    logger.warn('unfinished files of a dead keeper could not be removed', { fault: messageOf(fault) }),
  );
  await freeProject(record.task_id, parts).catch((fault: unknown) =>
    logger.warn('the lock of a dead keeper could not be removed', { fault: messageOf(fault) }),
  );
  // Last: who reads the end may rely on nothing being left, and a server that dies before it leaves the rest to the next.
  await writeJsonFileAtomically(stateDir.recordFile(record.task_id), recovered);
  return recovered;
}

/** Undefined when it is our turn; else the record as another server left it. */
async function waitForTurn(
  claim: string,
  taskId: string,
  { stateDir, clock, logger }: RecoveryParts,
): Promise<TaskRecord | undefined> {
  const untilMs = clock.monotonicMs() + CLAIM_LIMIT_MS;
  const owner = JSON.stringify(await ownIdentity());
  for (;;) {
    const isOurs = await claimed(claim, owner);
    const file = await readRecordFile(stateDir, taskId, { now: () => clock.now(), logger });
    if (file.state === 'ok' && isFinal(file.record.status)) {
      if (isOurs) await rm(claim, { force: true });
      return file.record;
    }
    if (isOurs || clock.monotonicMs() > untilMs) return undefined;
    if (await isAbandoned(claim)) await rm(claim, { force: true });
    else await sleep(clock, LOOK_INTERVAL_MS);
  }
}

async function claimed(claim: string, owner: string): Promise<boolean> {
  try {
    await writeFile(claim, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (fault) {
    if (systemCodeOf(fault) === 'EEXIST') return false;
    // A disk that takes no claim takes no record either: the fault of that one is told.
    return true;
  }
}

async function isAbandoned(claim: string): Promise<boolean> {
  try {
    const owner = processIdentitySchema.safeParse(
      z.json().parse(JSON.parse(await readFile(claim, 'utf8'))),
    ).data;
    return owner !== undefined && (await processState(owner)) === 'gone';
  } catch {
    // Gone by now, or not written whole yet: the next look, or the end of the time, decides.
    return false;
  }
}

async function whatHappened(record: TaskRecord): Promise<string> {
  const bootNow = (await ownIdentity()).boot_id;
  const bootThen = record.keeper?.boot_id ?? null;
  if (bootNow !== null && bootThen !== null && bootNow !== bootThen)
    return 'The machine was restarted, which ended the process that kept this task,';
  return 'The process that kept this task ended without a word (it was killed, or it crashed)';
}

/** When the task last wrote something: nobody saw its end. Never before its start, whatever was done to the clock. */
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
  await locks.decide(async (table) => {
    for (const lock of table.dead) if (lock.task_id === taskId) await table.clear(lock);
  });
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (unfinished.test(name)) await rm(join(folder, name), { force: true });
  }
}
