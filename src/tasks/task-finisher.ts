import { sleep, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { isSameProject } from '../projects/same-project.js';
import { worktreeOf, worktreeTask } from '../projects/worktree-path.js';
import { ownerState } from '../store/owner-state.js';
import { ProjectLocks, type Lock } from '../store/project-lock.js';
import type { StateDir } from '../store/state-dir.js';
import { readRecordFile, writeRecordFile } from './record/record-file.js';
import { withRecordClaim } from './record/recovery.js';
import { undoTask, type TaskUndoParts } from './task-undo.js';
import { isFinal, isNative, type TaskRecord } from './task.js';
import type { FinishAction, Worktree, WorktreeFinisher } from './worktree-maker.js';

/** A keeper leaves when the receipt is made, which takes it up to 20 s; another finisher waits for git. */
const WAIT_LIMIT_MS = 25_000;
const LOOK_INTERVAL_MS = 50;

export interface FinishTask {
  readonly taskId: string;
  readonly action: FinishAction;
  /** The tree that was reviewed, as receipts name it. Merge, apply and undo refuse any other one. */
  readonly reviewed?: string | undefined;
  /** For the commit of what was not committed; the prompt's summary when left out. */
  readonly message?: string | undefined;
  readonly signal: AbortSignal;
}

export interface FinishedTask {
  readonly record: TaskRecord;
  readonly notes: readonly string[];
}

export interface TaskFinisherOptions {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tasks: {
    get(taskId: string): Promise<TaskRecord>;
    list(query: { readonly status: 'active' }): Promise<{ readonly tasks: readonly TaskRecord[] }>;
  };
  readonly worktrees: WorktreeFinisher;
  readonly undo: TaskUndoParts['undo'];
}

/** Brings home, or drops, what tasks did in worktrees of their own, and takes back what they did in shared folders. */
export class TaskFinisher {
  readonly #options: TaskFinisherOptions;
  readonly #locks: ProjectLocks;
  /** One after the other: two merges into one branch would be in each other's way. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TaskFinisherOptions) {
    this.#options = options;
    const { stateDir, clock, logger } = options;
    this.#locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
      logger.error('a lock file could not be read', { ...corrupt }),
    );
  }

  /**
   * Throws TASK_NOT_FOUND, INVALID_ARGUMENTS for a task without a worktree (for undo: with one) or one that was finished, and where nothing was reviewed,
   * TASK_ALREADY_RUNNING while a task works there, WORK_DOES_NOT_FIT, and what git throws; then the project is as it was.
   */
  async finish(query: FinishTask): Promise<FinishedTask> {
    const turn = this.#last.then(() => this.#finish(query));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** What a person should know before a merge or an apply: a task works where the lines come. Undefined where none does, and for other actions. */
  async worksBeside({ worktree }: TaskRecord, action: FinishAction): Promise<string | undefined> {
    if (worktree === undefined || (action !== 'merge' && action !== 'apply')) return undefined;
    const { tasks } = await this.#options.tasks.list({ status: 'active' });
    const there = tasks.find(
      (task) =>
        task.status !== 'pending' && !isNative(task) && isSameProject(task.project_path, worktree.repository),
    );
    if (there === undefined) return undefined;
    return `Task ${there.task_id} works in the project: it may change the same files, and an undo of it takes these changes back, too.`;
  }

  async #finish(query: FinishTask): Promise<FinishedTask> {
    const { taskId } = query;
    const record = await this.#options.tasks.get(taskId);
    if (query.action === 'undo') requireShared(record);
    else unfinished(record);
    await this.#requireIdle(record);
    const beside = await this.worksBeside(record, query.action);
    await this.#keeperHasLeft(record);
    const project = query.action === 'undo' ? await this.#taken(record) : undefined;
    try {
      const { record: ended, notes } = await withRecordClaim(taskId, this.#options, {
        limitMs: WAIT_LIMIT_MS,
        act: () => this.#finishEnded(query),
      });
      return { record: ended, notes: beside === undefined ? notes : [...notes, beside] };
    } finally {
      project?.release();
    }
  }

  /** The lock of the project: no task starts in the middle of an undo. */
  async #taken({ task_id: taskId, project_path: projectPath }: TaskRecord): Promise<Lock> {
    const taken = await this.#locks.acquire({ projectPath, taskId });
    if ('held' in taken) return taken.held;
    throw stillWorks(taken.busy.task_id, 'there', 'just beginning');
  }

  /** For the holder of the record's claim. */
  async #finishEnded({ taskId, action, reviewed, message, signal }: FinishTask): Promise<FinishedTask> {
    const { worktrees, stateDir, clock } = this.#options;
    const file = await readRecordFile(stateDir, taskId);
    if (file.state !== 'ok' || !isFinal(file.record.status)) throw notWritten(taskId);
    const { record } = file;
    if (action === 'undo') {
      const notes = await undoTask(record, reviewed, this.#options);
      return {
        record: await this.#written(record, { undone_at: new Date(clock.now()).toISOString() }),
        notes,
      };
    }
    const worktree = unfinished(record);
    const { result, tree, notes } = await worktrees.finish(
      worktree,
      { action, taskId, reviewed, message: `${message ?? record.prompt_summary}\n` },
      signal,
    );
    const at = new Date(clock.now()).toISOString();
    const finished = { ...worktree, finished: { action, at, result, tree } };
    return { record: await this.#written(record, { worktree: finished }), notes };
  }

  async #written(record: TaskRecord, change: Partial<TaskRecord>): Promise<TaskRecord> {
    const changed = { ...record, ...change, change_seq: record.change_seq + 1 };
    await writeRecordFile(this.#options.stateDir, changed);
    return changed;
  }

  /** Its keeper writes the record until it leaves, and longer when the disk fails: what is written here would be lost. */
  async #keeperHasLeft({ task_id, keeper }: TaskRecord): Promise<void> {
    if (keeper === null) return;
    const { stateDir, clock } = this.#options;
    const untilMs = clock.monotonicMs() + WAIT_LIMIT_MS;
    for (;;) {
      if ((await ownerState(keeper, stateDir.path)) === 'gone') return;
      if (clock.monotonicMs() > untilMs) throw notWritten(task_id);
      await sleep(clock, LOOK_INTERVAL_MS);
    }
  }

  async #requireIdle(record: TaskRecord): Promise<void> {
    const { worktree, project_path } = record;
    const active = isFinal(record.status)
      ? (await this.#options.tasks.list({ status: 'active' })).tasks
      : [record];
    const there = active.find((task) =>
      worktree === undefined
        ? task.status !== 'pending' && !isNative(task) && isSameProject(task.project_path, project_path)
        : worktreeOf(task.project_path) === worktree.path,
    );
    if (there === undefined) return;
    throw stillWorks(there.task_id, worktree === undefined ? 'there' : 'in the worktree', there.status);
  }
}

function stillWorks(taskId: string, where: string, status: string): BridgeError {
  return new BridgeError('TASK_ALREADY_RUNNING', `Task ${taskId} still works ${where}: it is ${status}.`, [
    { do: 'wait', task: taskId },
    { do: 'end', task: taskId },
    'Then try again.',
  ]);
}

function notWritten(taskId: string): BridgeError {
  return new BridgeError(
    'TASK_ALREADY_RUNNING',
    `Task ${taskId} has ended, and its keeper still writes that down.`,
    'Try again in a minute. When the disk fails, the status of the task says so.',
  );
}

function requireShared({ task_id, worktree, driver, purpose }: TaskRecord): void {
  if (worktree === undefined && driver !== 'native' && purpose !== 'ask') return;
  if (worktree?.finished !== undefined) throw wasFinished(task_id, worktree.finished);
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `Undo is for a task in a shared folder, and ${task_id} ${worktree === undefined ? 'is not one whose files are stored' : 'works in a worktree'}.`,
    worktree === undefined ? 'Nothing was changed.' : 'Nothing was changed. "discard" drops its work.',
  );
}

function unfinished({ task_id, worktree, project_path }: TaskRecord): Worktree {
  if (worktree?.finished !== undefined) throw wasFinished(task_id, worktree.finished);
  if (worktree !== undefined) return worktree;
  const owner = worktreeTask(project_path);
  if (owner !== undefined)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `Task ${task_id} went on in the worktree of ${owner}: the work of both is finished by that id.`,
      'Nothing was changed.',
    );
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `Task ${task_id} worked in the project itself, not in a worktree: "undo" takes back what it changed.`,
    'Nothing was changed; git status shows the project as it is.',
  );
}

function wasFinished(taskId: string, { at, action, result }: NonNullable<Worktree['finished']>): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `Task ${taskId} was finished at ${at} (${action}: ${result === '' ? 'no work' : result}).`,
    'Nothing was changed; git status shows the project as it is.',
  );
}
