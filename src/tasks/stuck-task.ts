import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { ProcessIdentity } from '../store/process-identity.js';
import { isGoneWithin, signalProcess, whyNotSignalled } from '../store/signal-process.js';
import { recoverTask, type RecoveryParts } from './recovery.js';
import type { TaskRecord } from './task.js';
import { TaskUnreachable } from './unreachable.js';

/** A keeper that goes on ends its task by signals, each of which has some seconds. */
const WAKE_LIMIT_MS = 15_000;
/** After SIGKILL only what is stuck in the kernel stays. */
const AFTER_KILL_MS = 5_000;

export interface StuckTaskParts extends RecoveryParts {
  /** Asks the keeper to end the task. Throws as the first time. */
  readonly askAgain: () => Promise<TaskRecord>;
  /** The record as it is on the disk. */
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
}

/**
 * Ends a task whose keeper was asked to and does not answer. One that was halted goes on and does it itself; any other is
 * killed, and what it leaves is ended here. Throws TASK_UNREACHABLE for a keeper that may not be signalled, that the kernel holds,
 * or that is at work on it for longer than a call lasts.
 */
export async function endStuckTask(
  record: TaskRecord,
  reason: string,
  parts: StuckTaskParts,
): Promise<TaskRecord> {
  const { task_id: taskId, keeper } = record;
  if (keeper === null) throw new TaskUnreachable(taskId, 'it has no keeper yet');
  if (await signalled(keeper, 'SIGCONT', taskId)) {
    const ended = await endByKeeper(taskId, parts);
    if (ended !== undefined) return ended;
  }
  return recoverTask((await parts.read(taskId)) ?? record, parts, {
    ending: { status: 'killed', reason: `${reason} Its keeper did not answer and was ended, too.` },
    endKeeper: () => endKeeper(taskId, keeper, parts.clock),
  });
}

async function endKeeper(taskId: string, keeper: ProcessIdentity, clock: Clock): Promise<void> {
  if ((await signalled(keeper, 'SIGKILL', taskId)) && !(await isGoneWithin(keeper, clock, AFTER_KILL_MS)))
    throw cannotEnd(taskId, keeper, `its keeper, process ${keeper.pid}, is still there after SIGKILL`);
}

/** Undefined when it does not answer now either. */
async function endByKeeper(
  taskId: string,
  { clock, askAgain, read }: StuckTaskParts,
): Promise<TaskRecord | undefined> {
  try {
    const ended = await withinMs(clock, WAKE_LIMIT_MS, askAgain());
    if (ended !== undefined) return ended;
  } catch (fault) {
    if (fault instanceof TaskUnreachable && fault.isStuck) return undefined;
    // It found what it was asked the first time, and has ended it.
    if (fault instanceof BridgeError && fault.code === 'TASK_NOT_RUNNING') return read(taskId);
    throw fault;
  }
  throw new TaskUnreachable(taskId, `its keeper has not ended it within ${WAKE_LIMIT_MS / 1000} s`);
}

/** False when it is gone. */
async function signalled(keeper: ProcessIdentity, name: NodeJS.Signals, taskId: string): Promise<boolean> {
  const outcome = await signalProcess(keeper, name);
  const why = whyNotSignalled(outcome, keeper);
  if (why !== undefined) throw cannotEnd(taskId, keeper, why);
  return outcome === 'sent';
}

function cannotEnd(taskId: string, { pid }: ProcessIdentity, why: string): TaskUnreachable {
  const hint = `End process ${pid} by hand if it is one of yours; then get_task_status gives the task its end.`;
  return new TaskUnreachable(taskId, why, { hint });
}
