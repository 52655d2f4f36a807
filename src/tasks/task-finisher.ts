import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { writeJsonFileAtomically } from '../base/json-file.js';
import { worktreeOf } from '../base/worktree-path.js';
import type { StateDir } from '../store/state-dir.js';
import { isFinal, type TaskRecord } from './task.js';
import type { FinishAction, Worktree } from './worktree-maker.js';

/** More tasks than run at once. */
const MAX_ACTIVE_TASKS = 200;

export interface FinishTask {
  readonly taskId: string;
  readonly action: FinishAction;
  /** For the commit of what was not committed; the prompt's summary when left out. */
  readonly message?: string | undefined;
  readonly signal: AbortSignal;
}

export interface FinishedTask {
  readonly record: TaskRecord;
  readonly notes: readonly string[];
}

/** What ends a worktree. Throws WORK_DOES_NOT_FIT with everything as it was. */
export interface WorktreeFinisher {
  finish(
    worktree: Worktree,
    query: { readonly action: FinishAction; readonly taskId: string; readonly message: string },
    signal: AbortSignal,
  ): Promise<{ readonly result: string; readonly notes: readonly string[] }>;
}

export interface TaskFinisherOptions {
  readonly stateDir: Pick<StateDir, 'recordFile'>;
  readonly clock: Clock;
  readonly tasks: {
    get(taskId: string): Promise<TaskRecord>;
    list(query: {
      readonly status: 'active';
      readonly limit: number;
    }): Promise<{ readonly tasks: readonly TaskRecord[] }>;
  };
  readonly worktrees: WorktreeFinisher;
}

/** Brings home, or drops, what tasks did in worktrees of their own. */
export class TaskFinisher {
  readonly #options: TaskFinisherOptions;
  /** One after the other: two merges into one branch would be in each other's way. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TaskFinisherOptions) {
    this.#options = options;
  }

  /**
   * Throws TASK_NOT_FOUND, INVALID_ARGUMENTS for a task without a worktree or one that was finished, TASK_ALREADY_RUNNING
   * while a task works there, WORK_DOES_NOT_FIT, and what git throws; then nothing was changed.
   */
  async finish(query: FinishTask): Promise<FinishedTask> {
    const turn = this.#last.then(() => this.#finish(query));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #finish({ taskId, action, message, signal }: FinishTask): Promise<FinishedTask> {
    const { tasks, worktrees, stateDir, clock } = this.#options;
    const record = await tasks.get(taskId);
    const worktree = unfinished(record);
    await this.#requireIdle(record, worktree);
    const { result, notes } = await worktrees.finish(
      worktree,
      { action, taskId, message: `${message ?? record.prompt_summary}\n` },
      signal,
    );
    const at = new Date(clock.now()).toISOString();
    const finished: TaskRecord = {
      ...record,
      worktree: { ...worktree, finished: { action, at, result } },
      change_seq: record.change_seq + 1,
    };
    await writeJsonFileAtomically(stateDir.recordFile(taskId), finished);
    return { record: finished, notes };
  }

  async #requireIdle(record: TaskRecord, worktree: Worktree): Promise<void> {
    const active = isFinal(record.status)
      ? (await this.#options.tasks.list({ status: 'active', limit: MAX_ACTIVE_TASKS })).tasks
      : [record];
    const there = active.find((task) => worktreeOf(task.project_path) === worktree.path);
    if (there === undefined) return;
    throw new BridgeError(
      'TASK_ALREADY_RUNNING',
      `Task ${there.task_id} still works in the worktree: it is ${there.status}.`,
      'Wait for it with wait_for_task, or end it with kill_task, then call again.',
    );
  }
}

function unfinished(record: TaskRecord): Worktree {
  const { worktree } = record;
  if (worktree !== undefined && worktree.finished === undefined) return worktree;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    worktree?.finished === undefined
      ? `Task ${record.task_id} worked in the project itself, not in a worktree.`
      : `Task ${record.task_id} was finished at ${worktree.finished.at} (${worktree.finished.action}: ${worktree.finished.result === '' ? 'no work' : worktree.finished.result}).`,
    'Nothing was changed; git_status shows the project as it is.',
  );
}
