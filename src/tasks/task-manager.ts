import { sleep } from '../base/clock.js';
import { ignoreBridgeError, BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable, Emitter, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { ProjectLocks } from '../store/project-lock.js';
import { requireNotNative } from './native-session.js';
import { historyWords, TaskHistory, type HistorySettings, type Pruned } from './history/task-history.js';
import { goOnStep } from './polling-hint.js';
import { checkPrompt } from './prompt.js';
import type { TaskGuard } from './inside-task.js';
import { isFinal, type TaskRecord } from './task.js';
import type { DecisionAnswer, TaskLink } from './task-host.js';
import { endStuckTask } from './record/recovery.js';
import { TaskQueue, type TaskQueueOptions } from './queue/task-queue.js';
import { TaskReader } from './task-reader.js';
import type {
  OutputPage,
  OutputQuery,
  StartTask,
  TaskMessage,
  TaskPage,
  TaskQuery,
  TaskService,
  TaskWait,
  WaitOutcome,
} from './task-service.js';
import { TaskStarter, type TaskStarterOptions } from './task-starter.js';
import { waitForTasks } from './watch/task-waiter.js';
import { TaskWatches } from './watch/task-watches.js';
import { TaskUnreachable } from './unreachable.js';

/** A keeper that is being started has a record within this; then it has failed, and the task has its end. */
const START_LIMIT_MS = 25_000;
const START_LOOK_MS = 50;

export interface TaskManagerOptions extends Omit<TaskStarterOptions, 'queue' | 'read' | 'wait'> {
  readonly logger: Logger;
  /** Called for a task whose keeper died, by the process that gave it its end. */
  readonly onRecovered?: (record: TaskRecord) => void;
  readonly modesNow?: TaskQueueOptions['modesNow'];
  readonly history: HistorySettings;
  /** Left out where everything may be done. */
  readonly guard?: TaskGuard | undefined;
}

/**
 * The tasks of this user, no matter which server started them: it starts, finds, follows, answers and ends them. It holds no task
 * state of its own: records on disk, the queue next to them and the keepers' sockets are the truth, and other servers see
 * the same.
 */
export class TaskManager implements TaskService, Disposable {
  readonly #options: TaskManagerOptions;
  readonly #owned = new DisposableStore();
  readonly #reader: TaskReader;
  readonly #watches: TaskWatches;
  readonly #queue: TaskQueue;
  readonly #starter: TaskStarter;
  readonly #history: TaskHistory;
  /** A task id, whenever its record or log changed; only for tasks that somebody watches. */
  readonly onDidChange: Event<string>;
  readonly #starts = this.#owned.add(new Emitter<TaskRecord>());
  /** The record of each task that `start` started or queued. */
  readonly onDidStart = this.#starts.event;

  constructor(options: TaskManagerOptions) {
    this.#options = options;
    const { stateDir, clock, logger } = options;
    const locks = this.#owned.add(
      new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
        logger.error('a lock file could not be read', { ...corrupt }),
      ),
    );
    const ownerOf = async (taskId: string): Promise<ProcessIdentity | undefined> =>
      (await locks.table()).held.find((lock) => lock.task_id === taskId)?.owner;
    const reader = new TaskReader({ ...options, standings: () => this.#queue.look(), ownerOf });
    const read = (taskId: string) => reader.read(taskId);
    const orUnread = (taskId: string) => read(taskId).catch(ignoreBridgeError);
    this.#reader = reader;
    this.#watches = this.#owned.add(new TaskWatches({ stateDir, clock, read: orUnread }));
    this.onDidChange = this.#watches.onDidChange;
    this.#queue = this.#owned.add(
      new TaskQueue({
        ...options,
        locks,
        staysOn: true,
      }),
    );
    this.#history = new TaskHistory({
      ...options,
      settings: options.history,
      // One that cannot be read may be anything: it stays.
      read: orUnread,
    });
    this.#starter = new TaskStarter({
      ...options,
      queue: this.#queue,
      read,
      wait: (query) => this.wait(query),
    });
  }

  async start(input: StartTask): Promise<TaskRecord> {
    await this.#options.guard?.('start tasks');
    let started: TaskRecord | undefined;
    try {
      started = await this.#starter.start(input);
      this.#starts.fire(started);
      const { task_id, status, project_path: project } = started;
      const what = status === 'pending' ? 'queued' : 'started';
      this.#options.logger.info(`Task ${what}: ${task_id}`, { project });
      return started;
    } finally {
      // Whatever became of this one, others may have their turn now.
      this.#inBackground('the queue could not go on', () => this.#queue.advance());
      this.#inBackground('old tasks could not be pruned', () => this.prune(undefined, started));
    }
  }

  /** Starts what waits in the queue and can start, and checks again while tasks wait. Throws STATE_UNUSABLE. */
  advanceQueue(): Promise<void> {
    return this.#queue.advance();
  }

  get(taskId: string): Promise<TaskRecord> {
    return this.#reader.get(taskId);
  }

  list(query: TaskQuery): Promise<TaskPage> {
    return this.#reader.list(query);
  }

  wait(query: TaskWait): Promise<WaitOutcome> {
    return waitForTasks(query, {
      clock: this.#options.clock,
      get: (taskId) => this.get(taskId),
      watch: (taskId) => this.watch(taskId),
      onDidChange: this.#watches.onDidChange,
    });
  }

  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    await this.#options.guard?.('end tasks');
    const record = await this.get(taskId);
    requireNotNative(record, 'ended');
    if (record.status === 'pending' && record.keeper === null) {
      const killed = await this.#queue.cancel(taskId, reason);
      if (killed !== undefined) {
        this.#inBackground('the queue could not go on', () => this.#queue.advance());
        return killed;
      }
      await this.#untilKept(taskId);
    }
    const kill = (): Promise<TaskRecord> =>
      this.#withLink(
        taskId,
        (link) => link.kill(reason),
        // It has what was wanted of it, also when its keeper could not say so any more.
        (ended) => ended,
      );
    try {
      return await kill();
    } catch (error) {
      if (!isStuck(error)) throw error;
      return this.#endStuck(await this.get(taskId), reason, kill);
    }
  }

  async #endStuck(
    record: TaskRecord,
    reason: string,
    askAgain: () => Promise<TaskRecord>,
  ): Promise<TaskRecord> {
    const read = (id: string): Promise<TaskRecord | undefined> => this.#reader.read(id);
    const ended = await endStuckTask(record, reason, { ...this.#options, read, askAgain });
    // A keeper that was killed starts nothing any more.
    this.#inBackground('the queue could not go on', () => this.#queue.advance());
    return ended;
  }

  async respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    await this.#options.guard?.('answer decisions', await this.get(taskId));
    return this.#withLink(taskId, (link) => link.respond(answer));
  }

  async message(taskId: string, { text, interrupt, by }: TaskMessage): Promise<TaskRecord> {
    if (text !== undefined) checkPrompt(text);
    else if (interrupt !== true) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'Neither text nor interrupt was given.',
        'Give text to send, or interrupt: true, or both.',
      );
    }
    await this.#options.guard?.('steer tasks', await this.get(taskId));
    return this.#withLink(taskId, (link) =>
      link.message({
        ...(text === undefined ? {} : { text }),
        ...(interrupt === undefined ? {} : { interrupt }),
        ...(by === undefined ? {} : { by }),
      }),
    );
  }

  /** Lets go of a session that a person started, when the view of such sessions was ended: it runs on without a task. */
  letGo(taskId: string): Promise<TaskRecord> {
    return this.#withLink(
      taskId,
      (link) => link.kill('native off'),
      (ended) => ended,
    );
  }

  output(query: OutputQuery): Promise<OutputPage> {
    return this.#reader.output(query);
  }

  taskIds(prefix: string): Promise<string[]> {
    return this.#reader.taskIds(prefix);
  }

  watch(taskId: string): Disposable {
    return this.#watches.watch(taskId);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** `whenEnded`: what a task that ended before it answered means; TASK_NOT_RUNNING when left out. */
  async #withLink<T>(
    taskId: string,
    act: (link: TaskLink) => Promise<T>,
    whenEnded: (record: TaskRecord) => T = throwEndedMeanwhile,
  ): Promise<T> {
    const record = await this.get(taskId);
    if (isFinal(record.status) || record.keeper === null) throw notRunning(record);
    let link: TaskLink | undefined;
    try {
      link = await this.#options.host.connect(record);
      if (link === undefined)
        throw new TaskUnreachable(taskId, 'nothing listens at its socket', { isStuck: true });
      return await act(link);
    } catch (error) {
      if (!(error instanceof TaskUnreachable)) throw error;
      // A keeper that ends its task drops the requests of that moment; the record has the end.
      const left = await this.get(taskId);
      if (isFinal(left.status)) return whenEnded(left);
      throw error;
    } finally {
      link?.dispose();
    }
  }

  /** Waits for the keeper of a task that is being started. */
  async #untilKept(taskId: string): Promise<void> {
    const { clock } = this.#options;
    const giveUpMs = clock.monotonicMs() + START_LIMIT_MS;
    while (clock.monotonicMs() < giveUpMs) {
      const record = await this.get(taskId);
      if (record.keeper !== null || isFinal(record.status)) return;
      await sleep(clock, START_LOOK_MS);
    }
  }

  /** See `TaskHistory.prune`. */
  prune(keepTasks?: number, started?: TaskRecord): Promise<Pruned> {
    return this.#history.prune(keepTasks, started);
  }

  /** What the history lost last, in a sentence; undefined for nothing. Throws STATE_UNUSABLE. */
  historyWords(): Promise<string | undefined> {
    return historyWords(this.#options.stateDir.path);
  }

  /** Removes a task that has ended, with all its files. Throws TASK_NOT_FOUND, and as `TaskHistory.remove`. */
  async remove(taskId: string, force: boolean): Promise<void> {
    await this.#history.remove(await this.get(taskId), force);
  }

  #inBackground(error: string, act: () => Promise<unknown>): void {
    act().catch((why: unknown) => {
      // A command that has done its work leaves the rest to the processes that stay.
      if (!this.#owned.isDisposed) this.#options.logger.warn(error, { error: messageOf(why) });
    });
  }
}

/** The keeper takes no connection, or says nothing on it. */
function isStuck(error: unknown): boolean {
  return error instanceof TaskUnreachable && error.isStuck;
}

function notRunning(record: TaskRecord): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `Task ${record.task_id} is not running; its status is ${record.status}: ${record.reason}`,
    record.status === 'pending'
      ? [
          { do: 'wait', task: record.task_id },
          { do: 'end', task: record.task_id },
        ]
      : ['Nothing was changed.', goOnStep(record)],
  );
}

function throwEndedMeanwhile(record: TaskRecord): never {
  throw new BridgeError(
    'TASK_NOT_RUNNING',
    `Task ${record.task_id} ended before it answered; its status is ${record.status}: ${record.reason}`,
    ['What it still took is in its status and journal.', goOnStep(record)],
  );
}
