// Pure: waits for changes of tasks.
import { invalidCursor } from '../../base/input.js';
import type { Clock } from '../../base/clock.js';
import { type Event, DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { isFinal, openDecisions, type TaskRecord, TURN_OVER } from '../task.js';
import type { TaskWait, WaitOutcome } from '../task-service.js';

/** A progress word while a caller waits: often enough to show life, seldom enough to cost nothing. */
const PROGRESS_INTERVAL_MS = 5_000;
/** What stands in a cursor for a task. */
const CURSOR_PART = /^(task_[0-9a-f]{20}):(\d{1,12})$/;

export interface TaskWaiterOptions {
  readonly clock: Clock;
  readonly get: (taskId: string) => Promise<TaskRecord>;
  readonly watch: (taskId: string) => Disposable;
  /** A task id, whenever the record of a watched task changed. */
  readonly onDidChange: Event<string>;
}

/** Answers with every task's record at the first change since `cursor`, when all have ended, or when the time is over. Throws TASK_NOT_FOUND. */
export async function waitForTasks(query: TaskWait, options: TaskWaiterOptions): Promise<WaitOutcome> {
  const { clock, get, watch, onDidChange } = options;
  const { taskIds, signal } = query;
  const cursor = WaitCursor.parse(query.cursor);
  const watches = new DisposableStore();
  /** Tasks that were seen in the queue: that one starts is news also to a caller without a cursor. */
  const queued = new Set<string>();
  /** The `change_seq` with which a task was first seen running: its next change is news also to a caller without a cursor. */
  const running = new Map<string, number>();
  const stale = new Set(taskIds);
  let isLast = signal.aborted;
  let wake = (): void => undefined;
  const end = (): void => {
    isLast = true;
    wake();
  };
  try {
    for (const id of taskIds) watches.add(watch(id));
    watches.add(
      onDidChange((taskId) => {
        if (!taskIds.includes(taskId)) return;
        stale.add(taskId);
        wake();
      }),
    );
    watches.add(clock.after(query.timeoutMs, end));
    if (query.onProgress !== undefined) watches.add(tellProgress(taskIds, query.onProgress, options));
    signal.addEventListener('abort', end, { once: true });
    watches.add(toDisposable(() => signal.removeEventListener('abort', end)));
    for (;;) {
      const ends = isLast;
      const isWhole = ends || taskIds.every((id) => stale.has(id));
      // Only what has changed: of many tasks, each has news of its own.
      const ids = isWhole ? taskIds : [...stale];
      stale.clear();
      const tasks = await Promise.all(ids.map((id) => get(id)));
      const changed = new Set(cursor.changed(tasks));
      for (const { task_id, status, change_seq } of tasks) {
        if (status === 'pending') queued.add(task_id);
        else if (queued.has(task_id) || change_seq > (running.get(task_id) ?? change_seq))
          changed.add(task_id);
        else if (status === 'running') running.set(task_id, change_seq);
      }
      // Of tasks that have all ended there is nothing to wait for, also when the caller knows it.
      const isOver = ends || changed.size > 0 || tasks.every(({ status }) => isFinal(status));
      if (isWhole && isOver) return { tasks, changed: [...changed], cursor: WaitCursor.of(tasks) };
      if (changed.size > 0) for (const id of taskIds) stale.add(id);
      // A change during a check is checked after it.
      if (stale.size === 0 && isLast === ends) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    watches.dispose();
  }
}

function tellProgress(
  taskIds: readonly string[],
  tell: (text: string) => void,
  { clock, get }: TaskWaiterOptions,
): Disposable {
  let timer: Disposable;
  const arm = (): void => {
    timer = clock.after(PROGRESS_INTERVAL_MS, () => {
      void Promise.all(taskIds.map((id) => get(id))).then(
        (tasks) => tell(tasks.map(progressLine).join('\n')),
        // The wait itself reports a task that vanished.
        () => undefined,
      );
      arm();
    });
  };
  arm();
  return toDisposable(() => timer.dispose());
}

function progressLine(task: TaskRecord): string {
  const doing = task.status === 'pending' ? task.reason : task.activity;
  return `${task.task_id}: ${task.status}, ${task.elapsed_seconds} s, ${doing}`;
}

/** What a waiting caller has seen of each task: `task_…:<change_seq>`, joined by commas. */
export class WaitCursor {
  readonly #seen: ReadonlyMap<string, number>;

  private constructor(seen: ReadonlyMap<string, number>) {
    this.#seen = seen;
  }

  /** Throws INVALID_ARGUMENTS for an invalid cursor. */
  static parse(text: string | undefined): WaitCursor {
    const seen = new Map<string, number>();
    for (const piece of text === undefined || text === '' ? [] : text.split(',')) {
      const match = CURSOR_PART.exec(piece);
      if (match === null) throw invalidCursor();
      seen.set(match[1] ?? '', Number(match[2]));
    }
    return new WaitCursor(seen);
  }

  static of(tasks: readonly TaskRecord[]): string {
    return tasks.map((task) => `${task.task_id}:${task.change_seq}`).join(',');
  }

  /** For a caller that has seen nothing of the tasks: the first check answers immediately. */
  static beforeAll(taskIds: readonly string[]): string {
    return taskIds.map((taskId) => `${taskId}:0`).join(',');
  }

  /**
   * Ids of the tasks that changed since. A task that the cursor does not know counts as changed when there is nothing to
   * wait for: it has ended, its turn has, or it waits for the caller.
   */
  changed(tasks: readonly TaskRecord[]): string[] {
    return tasks
      .filter((task) => {
        const seen = this.#seen.get(task.task_id);
        if (seen !== undefined) return task.change_seq > seen;
        return (
          isFinal(task.status) ||
          task.status === 'waiting' ||
          openDecisions(task).length > 0 ||
          task.reason.startsWith(TURN_OVER)
        );
      })
      .map((task) => task.task_id);
  }
}
