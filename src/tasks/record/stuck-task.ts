import { withinMs } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { StuckKeeper, WAKE_LIMIT_MS } from '../../store/stuck-keeper.js';
import { recoverTask, type RecoveryParts } from './recovery.js';
import type { TaskRecord } from '../task.js';
import { TaskUnreachable } from '../unreachable.js';

export interface StuckTaskParts extends RecoveryParts {
  /** Asks the keeper to end the task. Throws as the first time. */
  readonly askAgain: () => Promise<TaskRecord>;
  /** The record as it is on the disk. */
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
}

/**
 * Ends a task whose keeper does not answer. A keeper that was halted goes on and ends the task itself; any other is killed, and
 * what it leaves is ended here. Throws TASK_UNREACHABLE for a keeper that may not be signalled, that the kernel holds, or that
 * has not ended the task within 15 seconds.
 */
export async function endStuckTask(
  record: TaskRecord,
  reason: string,
  parts: StuckTaskParts,
): Promise<TaskRecord> {
  const { task_id: taskId, keeper: identity } = record;
  if (identity === null) throw new TaskUnreachable(taskId, 'it has no keeper yet');
  const hint = `End process ${identity.pid} by hand if it is one of yours; then get_task_status gives the task its end.`;
  const keeper = new StuckKeeper({
    keeper: identity,
    clock: parts.clock,
    cannotEnd: (why) => new TaskUnreachable(taskId, why, { hint }),
  });
  if (await keeper.wake()) {
    const ended = await endByKeeper(taskId, parts);
    if (ended !== undefined) return ended;
  }
  return recoverTask((await parts.read(taskId)) ?? record, parts, {
    ending: { status: 'killed', reason: `${reason} Its keeper did not answer and was ended, too.` },
    endKeeper: () => keeper.kill(),
  });
}

/** Undefined when it does not answer now either. */
async function endByKeeper(
  taskId: string,
  { clock, askAgain, read }: StuckTaskParts,
): Promise<TaskRecord | undefined> {
  try {
    const ended = await withinMs(clock, WAKE_LIMIT_MS, askAgain());
    if (ended !== undefined) return ended;
  } catch (error) {
    if (error instanceof TaskUnreachable && error.isStuck) return undefined;
    // It found what it was asked the first time, and has ended it.
    if (error instanceof BridgeError && error.code === 'TASK_NOT_RUNNING') return read(taskId);
    throw error;
  }
  throw new TaskUnreachable(taskId, `its keeper has not ended it within ${WAKE_LIMIT_MS / 1000} s`);
}
