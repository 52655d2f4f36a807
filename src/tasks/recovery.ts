import { rm } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { writeJsonFileAtomically } from '../base/json-file.js';
import type { Logger } from '../base/logger.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskRecord } from './task.js';

export interface RecoveryParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly endMarked: (mark: string) => Promise<number>;
}

/**
 * The truthful end of a task whose keeper is gone: what the record last said stays, the status becomes `error` with the
 * reason, and processes and the socket that the keeper left behind are gone. The project's lock names the dead keeper and is taken over
 * by the next task.
 */
export async function recoverTask(record: TaskRecord, parts: RecoveryParts): Promise<TaskRecord> {
  const { stateDir, clock, logger, endMarked } = parts;
  const leftovers = await endMarked(record.process_mark).catch((fault: unknown) => {
    logger.error('processes of a dead keeper could not be ended', {
      task_id: record.task_id,
      fault: messageOf(fault),
    });
    return 0;
  });
  const ended = new Date(clock.now()).toISOString();
  const recovered: TaskRecord = {
    ...record,
    status: 'error',
    status_source: 'observed',
    reason: `The process that kept this task ended without a word (killed, or the machine was restarted) while the task was ${record.status}.${
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
    change_seq: record.change_seq + 1,
  };
  await writeJsonFileAtomically(stateDir.recordFile(record.task_id), recovered);
  await rm(record.socket_path, { force: true }).catch((fault: unknown) =>
    logger.warn('the socket of a dead keeper could not be removed', {
      path: record.socket_path,
      fault: messageOf(fault),
    }),
  );
  return recovered;
}
