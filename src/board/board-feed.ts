import { dirname, join } from 'node:path';
import { sleep } from '../base/clock.js';
import { BridgeError, messageOf, ignoreBridgeError } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { historyWords } from '../tasks/history/task-history.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { Channel, type OpenChannel } from './channel.js';
import { Refresher, watchFolder, type FeedOptions } from './feed.js';
import { cardOf, decisionViewOf } from './task-views.js';

/** The newest tasks; more than a person looks through. */
const MAX_TASKS = 500;
/** A task's folder is there a moment before its record. */
const NEW_TASK_MS = 50;
const NEW_TASK_TRIES = 40;

/** Opens the overview: every task of this state directory, whoever started it. */
export async function openBoardFeed(options: FeedOptions): Promise<OpenChannel> {
  const feed = new BoardFeed(options);
  try {
    await feed.start();
  } catch (error) {
    feed.dispose();
    throw error;
  }
  return feed;
}

interface Followed {
  /** What the overview shows of it. */
  values: ReadonlyMap<string, unknown>;
  hasEnded: boolean;
  /** While it runs, or while its work is still in its worktree. */
  watching: Disposable | undefined;
}

class BoardFeed implements OpenChannel {
  readonly channel: Channel;
  readonly #options: FeedOptions;
  readonly #owned = new DisposableStore();
  readonly #followed = new Map<string, Followed>();
  /** Tasks that have changed since they were read. */
  readonly #stale = new Set<string>();
  readonly #refresher: Refresher;
  #history: string | null = null;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.channel = this.#owned.add(new Channel('board:/', options.clock));
    this.#refresher = this.#owned.add(new Refresher(options.clock, () => this.#refresh()));
  }

  async start(): Promise<void> {
    const { tasks, tasksDir, logger } = this.#options;
    this.#owned.add(tasks.onDidChange((taskId) => this.#changed(taskId)));
    this.#owned.add(tasks.watch('active'));
    // Tasks of other servers come and go by their folders. Where the system cannot watch them, `watch('active')` finds them within a second.
    const came = (name: string | null): void => {
      if (name !== null && TASK_ID_PATTERN.test(name)) void this.#lookAtFolder(name);
    };
    this.#owned.add(watchFolder(tasksDir, came, logger));
    for (const purpose of ['task', 'ask'] as const) {
      const page = await tasks.list({ limit: MAX_TASKS, purpose });
      for (const record of page.tasks) this.#take(record);
      for (const { task_id, why } of page.unreadable ?? []) this.#unreadable(task_id, why);
    }
    await this.#readHistory();
    this.#put();
  }

  dispose(): void {
    this.#owned.dispose();
    for (const taskId of [...this.#followed.keys()]) this.#remove(taskId);
  }

  #changed(taskId: string): void {
    this.#stale.add(taskId);
    this.#refresher.changed();
  }

  async #refresh(): Promise<void> {
    const ids = [...this.#stale];
    this.#stale.clear();
    await Promise.all(ids.map((taskId) => this.#read(taskId)));
    this.#put();
  }

  async #read(taskId: string): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      this.#take(await tasks.get(taskId));
    } catch (error) {
      if (!(error instanceof BridgeError))
        logger.error('A task could not be read', { taskId, error: messageOf(error) });
      else if (error.code === 'TASK_NOT_FOUND') this.#remove(taskId);
      else this.#unreadable(taskId, error.message);
    }
  }

  #take(record: TaskRecord): void {
    const { task_id: taskId, status, decisions } = record;
    const followed = this.#follow(taskId);
    // A record that was read before the end may arrive after it.
    if (this.#owned.isDisposed || (followed.hasEnded && !isFinal(status))) return;
    followed.values = new Map<string, unknown>([
      [`task/${taskId}`, cardOf(record)],
      ...decisions
        .filter(({ closed_at }) => closed_at === null)
        .map((one) => [`decision/${taskId}/${one.decision_id}`, decisionViewOf(taskId, one)] as const),
    ]);
    if (isFinal(status)) this.#watchWorktree(followed, record);
    followed.hasEnded = isFinal(status);
  }

  #follow(taskId: string): Followed {
    const followed = this.#followed.get(taskId) ?? {
      values: new Map(),
      hasEnded: false,
      watching: undefined,
    };
    this.#followed.set(taskId, followed);
    return followed;
  }

  /** What becomes of the work in a worktree is decided after the end of its task, at any place. */
  #watchWorktree(followed: Followed, { task_id: taskId, worktree }: TaskRecord): void {
    const { tasksDir, logger } = this.#options;
    const isOpen = worktree !== undefined && worktree.finished === undefined;
    if (followed.hasEnded && isOpen) return;
    followed.watching?.dispose();
    followed.watching = undefined;
    if (!isOpen) return;
    followed.watching = watchFolder(join(tasksDir, taskId), () => this.#changed(taskId), logger);
    // It may have been decided before.
    this.#changed(taskId);
  }

  /** Its card stays as it was. */
  #unreadable(taskId: string, why: string): void {
    const followed = this.#follow(taskId);
    followed.values = new Map([...followed.values, [`unreadable/${taskId}`, why]]);
  }

  #remove(taskId: string): void {
    this.#followed.get(taskId)?.watching?.dispose();
    this.#followed.delete(taskId);
  }

  #put(): void {
    if (this.#owned.isDisposed) return;
    const values = [...this.#followed.values()].flatMap((followed) => [...followed.values]);
    this.channel.put(new Map([...values, ['history', this.#history]]));
  }

  /** What was removed from the history, where something was; one that cannot be read says nothing. */
  async #readHistory(): Promise<void> {
    const words = await historyWords(dirname(this.#options.tasksDir)).catch(ignoreBridgeError);
    this.#history = words ?? null;
  }

  /** A folder appeared or is gone; one that appeared has its record in a moment. */
  async #lookAtFolder(taskId: string): Promise<void> {
    const { clock, tasks } = this.#options;
    for (let tries = 0; tries < NEW_TASK_TRIES && !this.#owned.isDisposed; tries++) {
      const ids = await tasks.taskIds(taskId).catch(() => undefined);
      // One that is not known yet is not listed at once: it is looked at again.
      if (ids?.length === 0 && this.#followed.has(taskId)) {
        this.#remove(taskId);
        await this.#readHistory();
        return this.#put();
      }
      const record = await tasks.get(taskId).catch(() => undefined);
      if (record !== undefined) {
        const followed = this.#follow(taskId);
        // At once, and not only when `watch('active')` has found it.
        if (!isFinal(record.status)) followed.watching ??= tasks.watch(taskId);
        // Read again: it may have changed before it was watched.
        return this.#changed(taskId);
      }
      await sleep(clock, NEW_TASK_MS);
    }
  }
}
