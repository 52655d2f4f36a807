import { dirname } from 'node:path';
import { BridgeError, ignoreBridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { historyWords } from '../tasks/history/task-history.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { Put } from './channel.js';
import { leftWith, refresher, type FeedOptions } from './feed.js';
import type { Values } from './state.js';
import { cardOf, decisionViewOf } from './task-views.js';

/** The newest tasks; more than a person looks through. */
const MAX_TASKS = 500;

/** Shows every task of this state directory, whoever started it: each writer of a record, and who removes a task, notes it in one folder. */
export async function openBoardFeed(options: FeedOptions, put: Put): Promise<Disposable> {
  const { tasks, clock } = options;
  const owned = new DisposableStore();
  const overview = new Overview(options, put);
  /** Tasks that have changed since they were read. */
  const stale = new Set<string>();
  const again = refresher(clock, leftWith(owned), async () => {
    const ids = [...stale];
    stale.clear();
    await Promise.all(ids.map((taskId) => overview.read(taskId)));
    if (!owned.isDisposed) overview.put();
  });
  owned.add(
    tasks.onDidChange((taskId) => {
      stale.add(taskId);
      again();
    }),
  );
  owned.add(tasks.watch('active'));
  try {
    await overview.readAll();
  } catch (error) {
    owned.dispose();
    throw error;
  }
  return owned;
}

class Overview {
  readonly #options: FeedOptions;
  readonly #put: Put;
  /** What is shown of each task. */
  readonly #shown = new Map<string, Values>();
  readonly #ended = new Set<string>();
  #history: string | null = null;

  constructor(options: FeedOptions, put: Put) {
    this.#options = options;
    this.#put = put;
  }

  async readAll(): Promise<void> {
    for (const purpose of ['task', 'ask'] as const) {
      const page = await this.#options.tasks.list({ limit: MAX_TASKS, purpose });
      for (const record of page.tasks) this.#take(record);
      for (const { task_id, why } of page.unreadable ?? []) this.#unreadable(task_id, why);
    }
    await this.#readHistory();
    this.put();
  }

  /** Never rejects. */
  async read(taskId: string): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      this.#take(await tasks.get(taskId));
    } catch (error) {
      if (!(error instanceof BridgeError))
        logger.error('A task could not be read', { taskId, error: messageOf(error) });
      else if (error.code !== 'TASK_NOT_FOUND') this.#unreadable(taskId, error.message);
      else if (this.#shown.delete(taskId)) await this.#readHistory();
    }
  }

  put(): void {
    const values = [...this.#shown.values()].flatMap((shown) => [...shown]);
    this.#put(new Map([...values, ['history', this.#history]]));
  }

  #take(record: TaskRecord): void {
    const { task_id: taskId, status, decisions } = record;
    // A record that was read before the end may arrive after it.
    if (this.#ended.has(taskId) && !isFinal(status)) return;
    if (isFinal(status)) this.#ended.add(taskId);
    const open = decisions.filter(({ closed_at }) => closed_at === null);
    this.#shown.set(
      taskId,
      new Map<string, unknown>([
        [`task/${taskId}`, cardOf(record)],
        ...open.map((one) => [`decision/${taskId}/${one.decision_id}`, decisionViewOf(taskId, one)] as const),
      ]),
    );
  }

  /** Its card stays as it was. */
  #unreadable(taskId: string, why: string): void {
    this.#shown.set(taskId, new Map([...(this.#shown.get(taskId) ?? []), [`unreadable/${taskId}`, why]]));
  }

  /** What was removed from the history, where something was; one that cannot be read says nothing. */
  async #readHistory(): Promise<void> {
    this.#history = (await historyWords(dirname(this.#options.tasksDir)).catch(ignoreBridgeError)) ?? null;
  }
}
