import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { readRegularFile } from '../base/files/regular-file.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { headBytes } from '../base/text/text.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import { receiptView } from '../tasks/receipt/receipt-view.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel } from './channel.js';
import type { OpenChannel } from './hub.js';
import { JournalEvents } from './journal-events.js';
import { Refresher } from './refresher.js';
import {
  emptyTask,
  MAX_EVENTS,
  reduceTask,
  type TaskAction,
  type TaskState,
  type TimelineEvent,
} from './state.js';
import { TaskTracker } from './task-tracker.js';
import { decisionViewOf } from './task-views.js';
import { watchFolder } from './watch-folder.js';

/** Of the events that a page gets at first; it keeps up to MAX_EVENTS. */
const FIRST_EVENTS_BYTES = 2 * 1024 * 1024;
const MAX_PROMPT_BYTES = 64 * 1024;
const MAX_PROMPT_FILE_BYTES = 64 * 1024 * 1024;
const MAX_RECEIPT_BYTES = 256 * 1024;

export interface TaskFeedOptions {
  readonly tasks: TaskService;
  readonly receipts: ReceiptService;
  readonly promptFile: (taskId: string) => string;
  readonly tasksDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens the page of one task. Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE. */
export async function openTaskFeed(
  options: TaskFeedOptions,
  name: string,
  taskId: string,
  seq: number,
): Promise<OpenChannel> {
  const feed = new TaskFeed(options, taskId);
  try {
    const channel = new Channel<TaskState, TaskAction>(name, await feed.firstState(), reduceTask, seq);
    feed.follow(channel);
    return { channel, dispose: () => feed.dispose() };
  } catch (error) {
    feed.dispose();
    throw error;
  }
}

class TaskFeed implements Disposable {
  readonly #options: TaskFeedOptions;
  readonly #taskId: string;
  readonly #owned = new DisposableStore();
  readonly #tracker = new TaskTracker();
  readonly #left = new AbortController();
  readonly #events: JournalEvents;
  #finalMessage = '';
  #hasReceipt = false;
  #refresher: Refresher | undefined;
  #watchesWorktree = false;

  constructor(options: TaskFeedOptions, taskId: string) {
    this.#options = options;
    this.#taskId = taskId;
    this.#events = new JournalEvents(options.tasks, taskId);
  }

  async firstState(): Promise<TaskState> {
    const { tasks } = this.#options;
    // Before the first look, so that no change is missed.
    this.#owned.add(tasks.watch(this.#taskId));
    const record = await tasks.get(this.#taskId);
    let state: TaskState = {
      ...emptyTask,
      prompt: await this.#prompt(record),
      decisions: Object.fromEntries(
        record.decisions.map((one) => [one.decision_id, decisionViewOf(record.task_id, one)]),
      ),
    };
    for (const action of this.#recordActions(record)) state = reduceTask(state, action);
    const { events, dropped } = newestEvents(await this.#events.next());
    return { ...state, events, earlier_events: dropped };
  }

  follow(channel: Channel<TaskState, TaskAction>): void {
    const { tasks, clock } = this.#options;
    const refresher = this.#owned.add(new Refresher(clock, () => this.#refresh(channel)));
    this.#owned.add(
      tasks.onDidChange((taskId) => {
        if (taskId === this.#taskId) refresher.changed();
      }),
    );
    this.#refresher = refresher;
    refresher.changed();
  }

  dispose(): void {
    this.#left.abort();
    this.#owned.dispose();
  }

  async #refresh(channel: Channel<TaskState, TaskAction>): Promise<void> {
    const { tasks, logger } = this.#options;
    const dispatch = (action: TaskAction): void => {
      if (!this.#owned.isDisposed) channel.dispatch(action);
    };
    try {
      const record = await tasks.get(this.#taskId);
      const events = await this.#events.next();
      if (events.length > 0) dispatch({ type: 'event.appended', events });
      for (const action of this.#recordActions(record)) dispatch(action);
      if (isFinal(record.status)) this.#watchWorktree(record);
      if (isFinal(record.status) && !this.#hasReceipt) void this.#sendReceipt(record, dispatch);
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND')
        dispatch({ type: 'task.removed', task_id: this.#taskId });
      else logger.warn('A task could not be read', { taskId: this.#taskId, error: messageOf(error) });
    }
  }

  /** What becomes of the work in a worktree is decided after the end of its task, at any place. */
  #watchWorktree({ worktree }: TaskRecord): void {
    const { tasksDir, logger } = this.#options;
    if (worktree === undefined || worktree.finished !== undefined) return;
    if (this.#watchesWorktree || this.#owned.isDisposed) return;
    this.#watchesWorktree = true;
    const changed = (): void => this.#refresher?.changed();
    this.#owned.add(watchFolder(join(tasksDir, this.#taskId), changed, logger));
    // It may have been decided before.
    changed();
  }

  #recordActions(record: TaskRecord): TaskAction[] {
    const actions: TaskAction[] = this.#tracker.actionsFor(record);
    if (record.final_message === this.#finalMessage) return actions;
    this.#finalMessage = record.final_message;
    return [...actions, { type: 'message.final', text: record.final_message }];
  }

  /** The keeper makes it right after the end, which takes a moment. */
  async #sendReceipt(record: TaskRecord, dispatch: (action: TaskAction) => void): Promise<void> {
    this.#hasReceipt = true;
    try {
      const receipt = await this.#options.receipts.receiptOf(record, this.#left.signal);
      if (receipt === undefined) return;
      const { receipt: facts, left_out } = receiptView(receipt, MAX_RECEIPT_BYTES);
      dispatch({ type: 'receipt.ready', receipt: { ...facts, left_out } });
    } catch (error) {
      this.#options.logger.warn('A receipt could not be read', {
        taskId: this.#taskId,
        error: messageOf(error),
      });
    }
  }

  async #prompt(record: TaskRecord): Promise<string> {
    const read = await readRegularFile(this.#options.promptFile(this.#taskId), MAX_PROMPT_FILE_BYTES);
    // A prompt that is gone is still in the record, on one line.
    const text = 'bytes' in read ? read.bytes.toString('utf8') : record.prompt_summary;
    const head = headBytes(text, MAX_PROMPT_BYTES);
    return head === text ? text : `${head}\n… (${Buffer.byteLength(text)} bytes in all)`;
  }
}

/** The newest events, as many as a page gets at first. */
function newestEvents(all: readonly TimelineEvent[]): {
  readonly events: readonly TimelineEvent[];
  readonly dropped: number;
} {
  let bytes = 0;
  let from = all.length;
  while (from > 0 && all.length - from < MAX_EVENTS) {
    bytes += JSON.stringify(all[from - 1]).length;
    if (bytes > FIRST_EVENTS_BYTES) break;
    from--;
  }
  return { events: all.slice(from), dropped: (all[from]?.seq ?? 1) - 1 };
}
