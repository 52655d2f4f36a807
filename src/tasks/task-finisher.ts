import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Once } from '../base/once.js';
import type { Logger } from '../base/logger.js';
import { countedNoun, shellWord, someNames } from '../base/text.js';
import { isMet, onTree, unmetParagraph, unmetWords, type CheckRun } from '../checks/result.js';
import type { UndoQuery, UndoReport } from '../git/state/undo-changes.js';
import { isWithin } from '../projects/path-in-project.js';
import { isSameProject } from '../projects/worktree-path.js';
import { worktreeTask } from '../projects/worktree-path.js';
import { ownerState } from '../store/owner-state.js';
import { ProjectLocks } from '../store/project-lock.js';
import { Requests } from '../store/requests.js';
import type { StateDir } from '../store/state-dir.js';
import { treesOf } from './receipt/receipt-git.js';
import { readReceipt } from './receipt/task-receipts.js';
import { readRecordFile, writeRecordFile } from './record/record-file.js';
import { requireNotVerified } from './record/not-verified.js';
import { withRecordClaim } from './record/recovery.js';
import type { TaskService } from './task-service.js';
import { isFinal, type TaskRecord } from './task.js';
import { FINISHED, type FinishAction, type Worktree, type WorktreeFinisher } from './worktree-maker.js';

/** A keeper leaves when the receipt is made, which takes it up to 20 s; another finisher waits for git. */
const WAIT_LIMIT_MS = 25_000;
const LOOK_INTERVAL_MS = 50;
/** `git revert` would refuse: the files have changed. */
const TAKEN_FROM_COMMITS =
  ' A file of them that was taken back is now a change that is not committed: commit it, or bring the committed file back with git restore.';
const UNCHANGED = 'Nothing was changed; git status shows the project as it is.';
const WORDS_ARE_LOST = 'It was done by a server that was killed, and what that had to say of it is lost.';
const BY_HAND = 'Nothing was changed. Take it back by hand, or start a task for it.';

export interface FinishTask {
  readonly taskId: string;
  readonly action: FinishAction;
  /** The tree that was reviewed, as receipts name it. Merge, apply and undo refuse any other one. */
  readonly reviewed?: string | undefined;
  /** For the commit of what was not committed; the prompt's summary when left out. */
  readonly message?: string | undefined;
  /** Brings the work in although its checks are not all met. */
  readonly anyway?: boolean | undefined;
  readonly signal: AbortSignal;
  /** The same with the same id is done once, and is the answer each time. */
  readonly requestId?: string | undefined;
}

export interface FinishedTask {
  readonly record: TaskRecord;
  readonly notes: readonly string[];
}

export interface TaskFinisherOptions {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tasks: Pick<TaskService, 'get' | 'list'>;
  readonly worktrees: WorktreeFinisher;
  /** Takes back what lies between two kept trees. Throws WORK_DOES_NOT_FIT, and the errors of git. */
  readonly undo: (query: UndoQuery) => Promise<UndoReport>;
}

/** `onBegin`: called before the first change. */
type BegunFinish = FinishTask & { readonly onBegin?: () => Promise<void> };

/** Brings home, or drops, what tasks did in worktrees of their own, and takes back what they did in shared folders. */
export class TaskFinisher {
  readonly #options: TaskFinisherOptions;
  readonly #locks: ProjectLocks;
  readonly #once: Once;
  /** One after the other: two merges into one branch would be in each other's way. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: TaskFinisherOptions) {
    this.#options = options;
    const { stateDir, clock, logger } = options;
    this.#once = new Requests(stateDir.path, clock).once;
    this.#locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
      logger.error('a lock file could not be read', { ...corrupt }),
    );
  }

  /**
   * Throws TASK_NOT_FOUND, INVALID_ARGUMENTS for a task without a worktree (for undo: with one) or one that was finished, and where nothing was reviewed,
   * TASK_ALREADY_RUNNING while a task works there or its checks run in a clean copy, WORK_DOES_NOT_FIT, and what git throws; then the project is as it was.
   * With a request id also INVALID_ARGUMENTS and OUTCOME_UNKNOWN, see `Once`.
   */
  async finish({ requestId, ...query }: FinishTask): Promise<FinishedTask> {
    if (requestId === undefined) return this.#inTurn(query);
    const { signal: _, ...asked } = query;
    const { tasks, clock } = this.#options;
    const now = new Date(clock.now()).toISOString();
    const shapes = { outcome: z.array(z.string()), note: z.string() };
    const notes = await this.#once(
      requestId,
      { tool: 'finish_task', ...asked },
      shapes,
      async (note, begun) => {
        if (begun === undefined)
          return [...(await this.#inTurn({ ...query, onBegin: () => note(now) })).notes];
        if (isFinishedSince(begun, query.action, await tasks.get(query.taskId))) return [WORDS_ARE_LOST];
        throw cutOff(query);
      },
    );
    return { record: await tasks.get(query.taskId), notes };
  }

  #inTurn(query: BegunFinish): Promise<FinishedTask> {
    const turn = this.#last.then(() => this.#finish(query));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** What a person should know before a merge or an apply: a task works where the lines come. Undefined where none does, and for other actions. */
  async worksBeside({ worktree }: TaskRecord, action: FinishAction): Promise<string | undefined> {
    if (worktree === undefined || (action !== 'merge' && action !== 'apply')) return undefined;
    const { held } = await this.#locks.table();
    const there = held.find((lock) => isSameProject(lock.project_path, worktree.repository));
    if (there === undefined) return undefined;
    return `Task ${there.task_id} works in the project: it may change the same files, and an undo of it takes these changes back, too.`;
  }

  /**
   * The checks of the work, where they are not all met and the action brings it in: those of the newest task in its worktree. They count for
   * the files that they ran on, and `reviewed` is the tree that comes in.
   */
  async unmet(
    { worktree }: TaskRecord,
    action: FinishAction,
    reviewed: string | undefined,
  ): Promise<CheckRun | undefined> {
    if (worktree === undefined || (action !== 'merge' && action !== 'apply')) return undefined;
    const { tasks } = await this.#options.tasks.list({ status: 'finished' });
    const checked = tasks.find(
      (task) => task.checked !== undefined && isWithin(task.project_path, worktree.path),
    )?.checked;
    const found = checked && onTree(checked, reviewed);
    return found === undefined || isMet(found) ? undefined : found;
  }

  async #finish(query: BegunFinish): Promise<FinishedTask> {
    const { taskId, action } = query;
    const record = await this.#options.tasks.get(taskId);
    await this.#requireRepository(record, action);
    const worktree = worktreeFor(record, action);
    const where = worktree === undefined ? 'there' : 'in the worktree';
    if (!isFinal(record.status)) throw stillWorks(taskId, where, `it is ${record.status}`);
    const beside = await this.worksBeside(record, action);
    await this.#keeperHasLeft(record);
    await requireNotVerified(this.#options.stateDir, taskId);
    const unmet = await this.unmet(record, action, query.reviewed);
    if (unmet !== undefined && query.anyway !== true) throw notMet(taskId, unmet);
    // No task starts there in the middle of it.
    const projectPath = worktree?.path ?? record.project_path;
    const taken = await this.#locks.acquire({ projectPath, taskId });
    if ('busy' in taken) throw stillWorks(taken.busy.task_id, where, `since ${taken.busy.since}`);
    try {
      const { record: ended, notes } = await withRecordClaim(taskId, this.#options, {
        limitMs: WAIT_LIMIT_MS,
        act: () => this.#finishEnded(query, unmet && unmetParagraph(unmet)),
      });
      return { record: ended, notes: beside === undefined ? notes : [...notes, beside] };
    } finally {
      taken.held.release();
    }
  }

  /** For the holder of the record's claim. `note`: for the message of a merge. */
  async #finishEnded(query: BegunFinish, note: string | undefined): Promise<FinishedTask> {
    const { taskId, action, reviewed, message, signal, onBegin } = query;
    const { worktrees, stateDir, clock } = this.#options;
    const file = await readRecordFile(stateDir, taskId);
    if (file.state !== 'ok' || !isFinal(file.record.status)) throw notWritten(taskId);
    const { record } = file;
    const written = async (change: Partial<TaskRecord>): Promise<TaskRecord> => {
      const changed = { ...record, ...change, change_seq: record.change_seq + 1 };
      await writeRecordFile(stateDir, changed);
      return changed;
    };
    const worktree = worktreeFor(record, action);
    if (action === 'undo' || worktree === undefined) {
      const notes = await this.#undo(query);
      return { record: await written({ undone_at: new Date(clock.now()).toISOString() }), notes };
    }
    const { result, tree, notes } = await worktrees.finish(
      worktree,
      { action, taskId, reviewed, note, message: `${message ?? record.prompt_summary}\n`, onBegin },
      signal,
    );
    const finished = { action, at: new Date(clock.now()).toISOString(), result, tree };
    const all = note === undefined ? notes : [...notes, `${note}.`];
    return { record: await written({ worktree: { ...worktree, finished } }), notes: all };
  }

  /** Takes back what changed in the shared folder of a task; gives in sentences what was done and what was left. */
  async #undo({ taskId, reviewed, onBegin }: BegunFinish): Promise<string[]> {
    const { stateDir, undo } = this.#options;
    const git = (await readReceipt(stateDir, taskId))?.git;
    if (git?.state === 'none') throw new BridgeError('NOT_A_REPOSITORY', git.why, BY_HAND);
    if (git?.state !== 'repository' || git.start_tree === undefined || git.tree === undefined) {
      throw new BridgeError(
        'WORK_DOES_NOT_FIT',
        `The files of ${taskId} as they were at its start and its end were not kept: the notes of its receipt say why.`,
        BY_HAND,
      );
    }
    const { repository, start_tree: start, tree: end, commits, commits_total } = git;
    if (reviewed !== end) {
      const names = `${countedNoun(git.files_total, 'file')} (${someNames(git.files.map(({ path }) => path))})`;
      throw refused(
        `Undo takes back ${names}: all that changed in the folder while the task ran, whoever did it.`,
        `Nothing was changed. Once its changes were reviewed, try again with reviewed "${end}".`,
      );
    }
    const objects = treesOf(stateDir, taskId);
    await onBegin?.();
    const { files, left } = await undo({ repository, start, end, objects });
    const again = `GIT_ALTERNATE_OBJECT_DIRECTORIES=${shellWord(objects, '/')} git -C ${shellWord(repository, '/')} restore --source=${end} -- ${files.map((file) => shellWord(file, '/')).join(' ')}`;
    const commitsStay = `Commits stay (${someNames(commits.map(({ commit }) => commit.slice(0, 10)))}).`;
    return [
      files.length === 0
        ? 'No file was taken back: those that were there before the task are as they were.'
        : `${countedNoun(files.length, 'file')} taken back: ${someNames(files)}.`,
      ...(commits_total > 0 ? [`${commitsStay}${files.length === 0 ? '' : TAKEN_FROM_COMMITS}`] : []),
      ...left,
      'Ignored files stay as they are.',
      ...(files.length === 0 ? [] : [`To have all of it again, while the task is not removed: ${again}`]),
    ];
  }

  /** Throws INVALID_ARGUMENTS to bring home or drop the work of a task outside of any repository. */
  async #requireRepository(
    { task_id, worktree, project_path }: TaskRecord,
    action: FinishAction,
  ): Promise<void> {
    if (worktree !== undefined || action === 'undo') return;
    const git = (await readReceipt(this.#options.stateDir, task_id))?.git;
    if (git?.state !== 'none') return;
    throw refused(
      `Task ${task_id} worked in ${project_path}, outside of any git repository: what it changed is there already, and cannot be taken back.`,
      'Nothing was changed. The receipt of the task names the files that it wrote.',
    );
  }

  /** Its keeper writes the record until it leaves, and longer when the disk fails: what is written here would be lost. */
  async #keeperHasLeft({ task_id, keeper }: TaskRecord): Promise<void> {
    const { stateDir, clock } = this.#options;
    const untilMs = clock.monotonicMs() + WAIT_LIMIT_MS;
    while (keeper !== null && (await ownerState(keeper, stateDir.path)) !== 'gone') {
      if (clock.monotonicMs() > untilMs) throw notWritten(task_id);
      await sleep(clock, LOOK_INTERVAL_MS);
    }
  }
}

/** The worktree that the action ends; undefined for an undo. Throws INVALID_ARGUMENTS for what the action cannot be done to. */
function worktreeFor(record: TaskRecord, action: FinishAction): Worktree | undefined {
  const { task_id: id, worktree, driver, purpose, project_path } = record;
  if (worktree?.finished !== undefined) {
    const { at, action: done, result } = worktree.finished;
    throw refused(
      `Task ${id} was finished already: ${FINISHED[done]} at ${at}${result === '' ? ', without work' : `, as ${result}`}.`,
      UNCHANGED,
    );
  }
  if (action !== 'undo') {
    if (worktree !== undefined) return worktree;
    const owner = worktreeTask(project_path);
    throw refused(
      owner === undefined
        ? `Task ${id} worked in the project itself, not in a worktree: "undo" takes back what it changed.`
        : `Task ${id} went on in the worktree of ${owner}: the work of both is finished by that id.`,
      UNCHANGED,
    );
  }
  if (worktree !== undefined)
    throw refused(
      `Undo is for a task in a shared folder, and ${id} works in a worktree.`,
      'Nothing was changed. "discard" drops its work.',
    );
  if (driver === 'native' || purpose === 'ask')
    throw refused(
      `Undo is for a task in a shared folder, and ${id} is not one whose files are stored.`,
      'Nothing was changed.',
    );
  return undefined;
}

function refused(message: string, hint: string): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', message, hint);
}

function notMet(taskId: string, unmet: CheckRun): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', `${unmetWords(unmet)}.`, [
    'Nothing was changed.',
    { do: 'continue', task: taskId },
    'To bring the work in all the same: anyway: true, or --anyway in a terminal. The message of the merge then names these checks.',
  ]);
}

function isFinishedSince(
  begun: string,
  wanted: FinishAction,
  { worktree, undone_at = '' }: TaskRecord,
): boolean {
  if (wanted === 'undo') return undone_at >= begun;
  return worktree?.finished?.action === wanted && worktree.finished.at >= begun;
}

function cutOff({ taskId, action }: FinishTask): BridgeError {
  return new BridgeError(
    'OUTCOME_UNKNOWN',
    `The server that began to ${action} ${taskId} for this request_id was killed in the middle of it. How far it came is not known.`,
    'Nothing was done a second time. See git status and git log; then call with another request_id, if it is still to be done.',
  );
}

function stillWorks(taskId: string, where: string, how: string): BridgeError {
  return new BridgeError('TASK_ALREADY_RUNNING', `Task ${taskId} still works ${where}: ${how}.`, [
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
