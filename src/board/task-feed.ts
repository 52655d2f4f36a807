import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { readRegularFile } from '../base/files/regular-file.js';
import { DisposableStore } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { headBytes } from '../base/text/text.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import { receiptView } from '../tasks/receipt/receipt.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel } from './channel.js';
import type { OpenChannel } from './channels.js';
import { JournalEvents } from './journal-events.js';
import { Refresher } from './refresher.js';
import type { TimelineEvent } from './state.js';
import { cardOf, decisionViewOf } from './task-views.js';
import { watchFolder } from './watch-folder.js';

/** So many events of a task are shown; older ones are in the journal. */
const MAX_EVENTS = 5_000;
/** Of the events that were there when the page of the task was opened. */
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
export async function openTaskFeed(options: TaskFeedOptions, taskId: string): Promise<OpenChannel> {
  const feed = new TaskFeed(options, taskId);
  try {
    await feed.start();
  } catch (error) {
    feed.dispose();
    throw error;
  }
  return feed;
}

class TaskFeed implements OpenChannel {
  readonly channel: Channel;
  readonly #options: TaskFeedOptions;
  readonly #taskId: string;
  readonly #owned = new DisposableStore();
  readonly #left = new AbortController();
  readonly #journal: JournalEvents;
  readonly #refresher: Refresher;
  #events: readonly TimelineEvent[] = [];
  #prompt = '';
  #receipt: object | null = null;
  #asksForReceipt = false;
  #watchesWorktree = false;

  constructor(options: TaskFeedOptions, taskId: string) {
    const { tasks, clock } = options;
    this.#options = options;
    this.#taskId = taskId;
    this.channel = this.#owned.add(new Channel(`task:/${taskId}`, clock));
    this.#journal = new JournalEvents(tasks, taskId);
    this.#refresher = this.#owned.add(new Refresher(clock, () => this.#refresh()));
  }

  async start(): Promise<void> {
    const { tasks } = this.#options;
    // Before the first look, so that no change is missed.
    this.#owned.add(tasks.watch(this.#taskId));
    this.#owned.add(
      tasks.onDidChange((taskId) => {
        if (taskId === this.#taskId) this.#refresher.changed();
      }),
    );
    const record = await tasks.get(this.#taskId);
    this.#prompt = await this.#readPrompt(record);
    this.#events = newestEvents(await this.#journal.next());
    this.#put(record);
    this.#refresher.changed();
  }

  dispose(): void {
    this.#left.abort();
    this.#owned.dispose();
  }

  async #refresh(): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      const record = await tasks.get(this.#taskId);
      this.#events = [...this.#events, ...(await this.#journal.next())].slice(-MAX_EVENTS);
      this.#put(record);
      if (!isFinal(record.status)) return;
      this.#watchWorktree(record);
      if (!this.#asksForReceipt) void this.#readReceipt(record);
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND')
        this.channel.put(new Map([...this.channel.values, ['task', null]]));
      else logger.warn('A task could not be read', { taskId: this.#taskId, error: messageOf(error) });
    }
  }

  #put(record: TaskRecord): void {
    if (this.#owned.isDisposed) return;
    this.channel.put(
      new Map<string, unknown>([
        ['task', cardOf(record)],
        ['prompt', this.#prompt],
        ['final_message', record.final_message],
        ['receipt', this.#receipt],
        ['earlier_events', (this.#events[0]?.seq ?? 1) - 1],
        ...record.decisions.map(
          (one) => [`decision/${one.decision_id}`, decisionViewOf(this.#taskId, one)] as const,
        ),
        ...this.#events.map((event) => [`event/${event.seq}`, event] as const),
      ]),
    );
  }

  /** What becomes of the work in a worktree is decided after the end of its task, at any place. */
  #watchWorktree({ worktree }: TaskRecord): void {
    const { tasksDir, logger } = this.#options;
    if (worktree === undefined || worktree.finished !== undefined) return;
    if (this.#watchesWorktree || this.#owned.isDisposed) return;
    this.#watchesWorktree = true;
    const changed = (): void => this.#refresher.changed();
    this.#owned.add(watchFolder(join(tasksDir, this.#taskId), changed, logger));
    // It may have been decided before.
    changed();
  }

  /** The keeper makes it right after the end, which takes a moment. */
  async #readReceipt(record: TaskRecord): Promise<void> {
    this.#asksForReceipt = true;
    try {
      const receipt = await this.#options.receipts.receiptOf(record, this.#left.signal);
      if (receipt === undefined) return;
      const { receipt: facts, left_out } = receiptView(receipt, MAX_RECEIPT_BYTES);
      this.#receipt = { ...facts, left_out };
      this.#refresher.changed();
    } catch (error) {
      this.#options.logger.warn('A receipt could not be read', {
        taskId: this.#taskId,
        error: messageOf(error),
      });
    }
  }

  async #readPrompt(record: TaskRecord): Promise<string> {
    const read = await readRegularFile(this.#options.promptFile(this.#taskId), MAX_PROMPT_FILE_BYTES);
    // A prompt that is gone is still in the record, on one line.
    const text = 'bytes' in read ? read.bytes.toString('utf8') : record.prompt_summary;
    const head = headBytes(text, MAX_PROMPT_BYTES);
    return head === text ? text : `${head}\n… (${Buffer.byteLength(text)} bytes in all)`;
  }
}

/** The newest events, as many as a page gets at first. */
function newestEvents(all: readonly TimelineEvent[]): readonly TimelineEvent[] {
  let bytes = 0;
  let from = all.length;
  while (from > 0 && all.length - from < MAX_EVENTS) {
    bytes += JSON.stringify(all[from - 1]).length;
    if (bytes > FIRST_EVENTS_BYTES) break;
    from--;
  }
  return all.slice(from);
}
