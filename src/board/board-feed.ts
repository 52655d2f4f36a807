import { dirname, join } from 'node:path';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { ignoreBridgeError } from '../base/ignore-bridge-error.js';
import { historyWords } from '../tasks/history/task-history.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel } from './channel.js';
import type { OpenChannel } from './channels.js';
import { ProcessFeed, type ProcessSource } from './process-feed.js';
import { Refresher } from './refresher.js';
import type { BoardState } from './state.js';
import { cardOf, decisionViewOf, endOf } from './task-views.js';
import { watchFolder } from './watch-folder.js';

/** The newest tasks; more than a person looks through. */
const MAX_TASKS = 500;
/** The newest folders: no more tasks start at the same moment. */
const MAX_STARTING = 20;
/** A task's folder is there a moment before its record. */
const NEW_TASK_MS = 50;
const NEW_TASK_TRIES = 40;

export interface BoardFeedOptions {
  readonly tasks: TaskService;
  readonly tasksDir: string;
  /** Left out where they are not shown. */
  readonly processes?: ProcessSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens the overview: every task of this state directory, whoever started it. */
export async function openBoardFeed(options: BoardFeedOptions): Promise<OpenChannel> {
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
  readonly refresher: Refresher;
  /** What the overview shows of it. */
  readonly values: Map<string, unknown>;
  /** The summaries of what it asks, by id. */
  readonly asks: Map<string, string>;
  watching: Disposable | undefined;
  hasEnded: boolean;
  /** Of a task that has ended, while its work is still in its worktree. */
  worktree: Disposable | undefined;
}

class BoardFeed implements OpenChannel {
  readonly channel: Channel;
  readonly #options: BoardFeedOptions;
  readonly #owned = new DisposableStore();
  readonly #followed = new Map<string, Followed>();
  #processes: ProcessFeed | undefined;
  #lastClosed: BoardState['last_closed'] = null;
  #history: string | null = null;

  constructor(options: BoardFeedOptions) {
    this.#options = options;
    this.channel = this.#owned.add(new Channel('board:/', options.clock));
  }

  async start(): Promise<void> {
    const { tasks, processes, clock, logger } = this.#options;
    this.#owned.add(tasks.onDidChange((taskId) => this.#follow(taskId).refresher.changed()));
    this.#owned.add(tasks.watch('active'));
    this.#owned.add(this.#watchFolders());
    for (const purpose of ['task', 'ask'] as const) {
      const page = await tasks.list({ limit: MAX_TASKS, purpose });
      for (const record of page.tasks) this.#take(this.#follow(record.task_id), record);
      for (const { task_id, why } of page.unreadable ?? []) this.#unreadable(task_id, why);
    }
    if (processes !== undefined) {
      const changed = (): void => this.#put();
      this.#processes = this.#owned.add(new ProcessFeed({ processes, clock, logger, changed }));
      await this.#processes.start();
    }
    await this.#readHistory();
    this.#put();
    await this.#lookForNew();
  }

  /** What was removed from the history, where something was; one that cannot be read says nothing. */
  async #readHistory(): Promise<void> {
    const words = await historyWords(dirname(this.#options.tasksDir)).catch(ignoreBridgeError);
    this.#history = words ?? null;
  }

  /** A task that was about to start has a folder but no record yet, so the list leaves it out, and no event reports its folder again. */
  async #lookForNew(): Promise<void> {
    const ids = await this.#options.tasks.taskIds('');
    for (const id of ids.slice(0, MAX_STARTING)) if (!this.#followed.has(id)) void this.#lookAtFolder(id);
  }

  dispose(): void {
    this.#owned.dispose();
    for (const followed of this.#followed.values()) stop(followed);
    this.#followed.clear();
  }

  #follow(taskId: string): Followed {
    const known = this.#followed.get(taskId);
    if (known !== undefined) return known;
    const followed: Followed = {
      refresher: new Refresher(this.#options.clock, () => this.#refresh(taskId)),
      values: new Map(),
      asks: new Map(),
      watching: undefined,
      hasEnded: false,
      worktree: undefined,
    };
    this.#followed.set(taskId, followed);
    return followed;
  }

  async #refresh(taskId: string): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      const record = await tasks.get(taskId);
      const followed = this.#followed.get(taskId);
      if (followed !== undefined) this.#take(followed, record);
    } catch (error) {
      if (!(error instanceof BridgeError)) {
        logger.error('A task could not be read', { taskId, error: messageOf(error) });
        return;
      }
      if (error.code === 'TASK_NOT_FOUND') this.#remove(taskId);
      else this.#unreadable(taskId, error.message);
    }
    this.#put();
  }

  #take(followed: Followed, record: TaskRecord): void {
    // A record that was read before the end may arrive after it.
    if (this.#owned.isDisposed || (followed.hasEnded && !isFinal(record.status))) return;
    followed.hasEnded = isFinal(record.status);
    this.#noteClosed(followed, record);
    followed.values.clear();
    followed.values.set(`task/${record.task_id}`, cardOf(record));
    for (const decision of record.decisions) {
      if (decision.closed_at !== null) continue;
      followed.asks.set(decision.decision_id, decision.summary);
      const key = `decision/${record.task_id}/${decision.decision_id}`;
      followed.values.set(key, decisionViewOf(record.task_id, decision));
    }
    if (!isFinal(record.status)) return;
    followed.watching?.dispose();
    followed.watching = undefined;
    this.#watchWorktree(followed, record);
  }

  /** Finds what was asked when the record was read before, and is answered by now. */
  #noteClosed({ asks }: Followed, { decisions }: TaskRecord): void {
    for (const [id, summary] of asks) {
      const decision = decisions.find(({ decision_id }) => decision_id === id);
      if (decision?.closed_at === null) continue;
      asks.delete(id);
      const end = decision === undefined ? null : endOf(decision);
      if (end !== null) this.#lastClosed = { ...end, summary };
    }
  }

  /** Its card stays as it was. */
  #unreadable(taskId: string, why: string): void {
    this.#follow(taskId).values.set(`unreadable/${taskId}`, why);
  }

  #put(): void {
    if (this.#owned.isDisposed) return;
    this.channel.put(
      new Map([
        ...[...this.#followed.values()].flatMap(({ values }) => [...values]),
        ...(this.#processes?.values ?? []),
        ['last_closed', this.#lastClosed],
        ['history', this.#history],
      ]),
    );
  }

  /** What becomes of the work in a worktree is decided after the end of its task, at any place. */
  #watchWorktree(followed: Followed, { task_id, worktree }: TaskRecord): void {
    const { tasksDir, logger } = this.#options;
    if (worktree === undefined || worktree.finished !== undefined) {
      followed.worktree?.dispose();
      followed.worktree = undefined;
      return;
    }
    if (followed.worktree !== undefined) return;
    followed.worktree = watchFolder(join(tasksDir, task_id), () => followed.refresher.changed(), logger);
    // It may have been decided before.
    followed.refresher.changed();
  }

  #remove(taskId: string): void {
    const followed = this.#followed.get(taskId);
    if (followed !== undefined) stop(followed);
    this.#followed.delete(taskId);
  }

  /** Tasks of other servers come and go by their folders. Where the system cannot watch them, `watch('active')` finds them within a second. */
  #watchFolders(): Disposable {
    const { tasksDir, logger } = this.#options;
    return watchFolder(
      tasksDir,
      (name) => {
        if (name !== null && TASK_ID_PATTERN.test(name)) void this.#lookAtFolder(name);
      },
      logger,
    );
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
        this.#put();
        return;
      }
      const record = await tasks.get(taskId).catch(() => undefined);
      if (record !== undefined) {
        const followed = this.#follow(taskId);
        // At once, and not only when `watch('active')` has found it.
        if (!isFinal(record.status)) followed.watching ??= tasks.watch(taskId);
        // Read again: it may have changed before it was watched.
        followed.refresher.changed();
        return;
      }
      await sleep(clock, NEW_TASK_MS);
    }
  }
}

function stop({ refresher, watching, worktree }: Followed): void {
  refresher.dispose();
  watching?.dispose();
  worktree?.dispose();
}
