import { z } from 'zod';
import { BridgeError, ignoreBridgeError, messageOf } from '../base/errors.js';
import type { Once } from '../base/once.js';
import { type Disposable, DisposableStore, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { ProjectLocks } from '../store/project-lock.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { isMade, requestKey, Requests } from '../store/requests.js';
import { historyWords, TaskHistory, type HistorySettings, type Pruned } from './history/task-history.js';
import { goOnStep } from './polling-hint.js';
import { TaskQueue, type TaskQueueOptions } from './queue/task-queue.js';
import { endStuckTask } from './record/recovery.js';
import { checkPrompt } from './start-checks.js';
import { readRecordFile } from './record/record-file.js';
import { isFinal, taskIdSchema, type TaskRecord } from './task.js';
import type { DecisionAnswer, SentMessage, TaskLink } from './task-host.js';
import { TaskReader } from './task-reader.js';
import { requireNotNative, TaskUnreachable, type TaskGuard } from './task-refusals.js';
import type { StartTask, TaskService } from './task-service.js';
import { startTask, type TaskStarterOptions } from './task-starter.js';
import { waitForTasks } from './watch/task-waiter.js';
import { TaskWatches } from './watch/task-watches.js';

/** One wait for the end of a task that is logged; the next follows. */
const LOG_WAIT_MS = 600_000;
/** A keeper that is being started has a record within this; then it has failed, and the task has its end. */
const START_LIMIT_MS = 25_000;

export interface TaskManagerOptions extends TaskStarterOptions {
  readonly logger: Logger;
  /** The start and the end of each task that `start` starts are logged, as long as this is not disposed. */
  readonly logsTasks?: boolean;
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
  readonly #closing = new AbortController();
  readonly #reader: TaskReader;
  readonly #watches: TaskWatches;
  readonly #queue: TaskQueue;
  readonly #history: TaskHistory;
  readonly #once: Once;
  /** By its project's lock; undefined for one whose keeper is gone, and for one without a lock. */
  readonly #ownerOf: (taskId: string) => Promise<ProcessIdentity | undefined>;
  /** A task id, whenever its record or log changed; only for tasks that somebody watches. */
  readonly onDidChange: Event<string>;
  readonly get: TaskService['get'] = (taskId) => this.#reader.get(taskId);
  readonly list: TaskService['list'] = (query) => this.#reader.list(query);
  readonly output: TaskService['output'] = (query) => this.#reader.output(query);
  readonly watch: TaskService['watch'] = (taskId) => this.#watches.watch(taskId);

  constructor(options: TaskManagerOptions) {
    this.#options = options;
    const { stateDir, clock, logger, history: settings } = options;
    const onCorrupt = (corrupt: object) => logger.error('a lock file could not be read', { ...corrupt });
    const locks = this.#owned.add(new ProjectLocks(stateDir.lockDir, clock, onCorrupt));
    this.#once = new Requests(stateDir.path, clock).once;
    this.#ownerOf = async (taskId) =>
      (await locks.table()).held.find((lock) => lock.task_id === taskId)?.owner;
    const queue = this.#owned.add(new TaskQueue({ ...options, locks, staysOn: true }));
    const reader = new TaskReader({
      ...options,
      standings: () => queue.look(),
      ownerOf: this.#ownerOf,
    });
    // One that cannot be read may be anything: it is not removed.
    const read = (taskId: string) => reader.read(taskId).catch(ignoreBridgeError);
    this.#queue = queue;
    this.#reader = reader;
    this.#watches = this.#owned.add(new TaskWatches({ stateDir, clock, read }));
    this.onDidChange = this.#watches.onDidChange;
    this.#history = new TaskHistory({ ...options, settings, read });
  }

  async start({ requestId, ...input }: StartTask): Promise<TaskRecord> {
    await this.#options.guard?.('start tasks');
    if (requestId === undefined) return this.#start(input);
    const { signal: _, ...asked } = input;
    const { stateDir, clock } = this.#options;
    const taskId = await this.#once(
      requestId,
      { tool: 'start_task', ...asked },
      { outcome: taskIdSchema, note: taskIdSchema },
      async (note, begun) => {
        // What has neither a record nor a keeper never starts: it is removed as all that a dead server leaves.
        const isBegun =
          begun !== undefined &&
          (await isMade(
            clock,
            async () => (await this.#ownerOf(begun)) !== undefined,
            async () => (await readRecordFile(stateDir, begun)).state !== 'missing',
          ));
        return isBegun ? begun : (await this.#start(input, note)).task_id;
      },
    );
    return this.get(taskId);
  }

  async #start(input: StartTask, onNamed?: (taskId: string) => Promise<void>): Promise<TaskRecord> {
    let started: TaskRecord | undefined;
    try {
      const parts = { ...this.#options, queue: this.#queue, wait: this.wait };
      started = await startTask(input, { ...parts, ...(onNamed !== undefined && { onNamed }) });
      if (this.#options.logsTasks === true)
        this.#inBackground('the end of a task is not logged', this.#logToEnd(started));
      return started;
    } finally {
      // Whatever became of this one, others may have their turn now.
      this.#goOn();
      this.#inBackground('old tasks could not be pruned', this.prune(undefined, started));
    }
  }

  /** Starts what waits in the queue and can start, and checks again while tasks wait. Throws STATE_UNUSABLE. */
  advanceQueue(): Promise<void> {
    return this.#queue.advance();
  }

  readonly wait: TaskService['wait'] = (query) => {
    const { get, watch, onDidChange } = this;
    return waitForTasks(query, { clock: this.#options.clock, get, watch, onDidChange });
  };

  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    await this.#options.guard?.('end tasks');
    const record = await this.get(taskId);
    requireNotNative(record, 'ended');
    if (record.status === 'pending' && record.keeper === null) {
      const killed = await this.#queue.cancel(taskId, reason);
      if (killed !== undefined) {
        this.#goOn();
        return killed;
      }
      // Its keeper is being started.
      const signal = AbortSignal.timeout(START_LIMIT_MS);
      await this.wait({ taskIds: [taskId], timeoutMs: START_LIMIT_MS, signal });
    }
    try {
      return await this.#end(taskId, reason);
    } catch (error) {
      if (!(error instanceof TaskUnreachable && error.isStuck)) throw error;
      const ended = await endStuckTask(await this.get(taskId), reason, this.#options);
      // A keeper that was killed starts nothing any more.
      this.#goOn();
      return ended;
    }
  }

  async respond(taskId: string, { request_id: id, ...answer }: DecisionAnswer): Promise<TaskRecord> {
    await this.#options.guard?.('answer decisions', await this.get(taskId));
    const asked = { tool: 'respond_to_task', taskId, ...answer };
    return this.#sendOnce(taskId, id, asked, (link, request) => link.respond(answer, request));
  }

  async message(taskId: string, { requestId: id, ...message }: SentMessage): Promise<TaskRecord> {
    if (message.text !== undefined) checkPrompt(message.text);
    else if (message.interrupt !== true)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'Neither text nor interrupt was given.',
        'Give text to send, or interrupt: true, or both.',
      );
    await this.#options.guard?.('steer tasks', await this.get(taskId));
    const asked = { tool: 'message_task', taskId, ...message };
    return this.#sendOnce(taskId, id, asked, (link, request) => link.message(message, request));
  }

  /** The keeper does what has the same request once; afterwards the record says that it did. */
  async #sendOnce(
    taskId: string,
    id: string | undefined,
    asked: object,
    act: (link: TaskLink, request?: string) => Promise<TaskRecord>,
  ): Promise<TaskRecord> {
    if (id === undefined) return this.#withLink(taskId, act);
    const request = requestKey(id);
    const sent = z.literal(true);
    await this.#once(id, asked, { outcome: sent, note: sent }, async (note, isBegun) => {
      const record = await this.get(taskId);
      if (record.requests?.includes(request) === true) return true;
      if (isBegun === true && isFinal(record.status)) throw endedMeanwhile(taskId);
      await note(true);
      await this.#withLink(taskId, (link) => act(link, request));
      return true;
    });
    return this.get(taskId);
  }

  /** Lets go of a session that a person started, when the view of such sessions was ended: it runs on without a task. */
  letGo(taskId: string): Promise<TaskRecord> {
    return this.#end(taskId, 'native off');
  }

  async taskIds(prefix: string): Promise<string[]> {
    return (await this.#options.stateDir.listTaskIds()).filter((id) => id.startsWith(prefix));
  }

  /** See `TaskHistory.prune`. */
  prune(keepTasks?: number, started?: TaskRecord): Promise<Pruned> {
    return this.#history.prune(keepTasks, started);
  }

  /** What the history lost last, in a sentence, when it is asked for the first time. Throws STATE_UNUSABLE. */
  historyWords(): Promise<string | undefined> {
    return historyWords(this.#options.stateDir.path, true);
  }

  /** Removes a task that has ended, with all its files. Throws TASK_NOT_FOUND, and as `TaskHistory.remove`. */
  async remove(taskId: string, force: boolean): Promise<void> {
    await this.#history.remove(await this.get(taskId), force);
  }

  dispose(): void {
    this.#closing.abort();
    this.#owned.dispose();
  }

  /** One that ended meanwhile has what was wanted of it, also when its keeper could not say so any more. */
  #end(taskId: string, reason: string): Promise<TaskRecord> {
    return this.#withLink(
      taskId,
      (link) => link.kill(reason),
      (ended) => ended,
    );
  }

  /** `whenEnded`: what a task that ended before it answered means; TASK_NOT_RUNNING when left out. */
  async #withLink(
    taskId: string,
    act: (link: TaskLink) => Promise<TaskRecord>,
    whenEnded?: (record: TaskRecord) => TaskRecord,
  ): Promise<TaskRecord> {
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
      if (!isFinal(left.status)) throw error;
      if (whenEnded !== undefined) return whenEnded(left);
      throw notRunning(left, true);
    } finally {
      link?.dispose();
    }
  }

  /** Logs the start and the end of a task that this server starts: without its reason, which may hold what the agent printed. */
  async #logToEnd(started: TaskRecord): Promise<void> {
    const { task_id, project_path: project } = started;
    const { signal } = this.#closing;
    let said = '';
    let cursor: string | undefined;
    for (let record = started; ;) {
      const { status, exit_code, signal: killed } = record;
      const now = isFinal(status) ? status : status === 'pending' ? 'queued' : 'started';
      const fields = isFinal(status) ? { exit_code, signal: killed } : { project };
      if (now !== said) this.#options.logger.info(`Task ${now}: ${task_id}`, fields);
      said = now;
      if (isFinal(status)) return;
      const waited = await this.wait({ taskIds: [task_id], timeoutMs: LOG_WAIT_MS, cursor, signal });
      if (signal.aborted) return;
      cursor = waited.cursor;
      [record = record] = waited.tasks;
    }
  }

  #goOn(): void {
    this.#inBackground('the queue could not go on', this.#queue.advance());
  }

  #inBackground(error: string, act: Promise<unknown>): void {
    act.catch((why: unknown) => {
      // A command that has done its work leaves the rest to the processes that stay.
      if (!this.#owned.isDisposed) this.#options.logger.warn(error, { error: messageOf(why) });
    });
  }
}

function endedMeanwhile(taskId: string): BridgeError {
  return new BridgeError(
    'OUTCOME_UNKNOWN',
    `Task ${taskId} has ended, and whether it took this before is not known: the server that sent it died.`,
    ['Nothing was sent now.', { do: 'result', task: taskId }],
  );
}

/** `isMeanwhile`: it ended before it answered. */
function notRunning(record: TaskRecord, isMeanwhile = false): BridgeError {
  const { task_id: task, status, reason } = record;
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `Task ${task} ${isMeanwhile ? 'ended before it answered' : 'is not running'}; its status is ${status}: ${reason}`,
    status === 'pending'
      ? [
          { do: 'wait', task },
          { do: 'end', task },
        ]
      : [
          isMeanwhile ? 'What it still took is in its status and journal.' : 'Nothing was changed.',
          goOnStep(record),
        ],
  );
}
