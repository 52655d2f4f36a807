// Pure.
import type { Clock } from '../../base/clock.js';
import type { Event } from '../../base/event.js';
import { DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { isFinal, type TaskRecord } from '../task.js';
import type { TaskWait, WaitOutcome } from '../task-service.js';
import type { TaskChange } from './task-watches.js';
import { WaitCursor } from './wait-cursor.js';

/** A progress word while a caller waits: often enough to show life, seldom enough to cost nothing. */
const PROGRESS_INTERVAL_MS = 5_000;

export interface TaskWaiterOptions {
  readonly clock: Clock;
  readonly get: (taskId: string) => Promise<TaskRecord>;
  readonly watch: (taskId: string) => Disposable;
  readonly onDidSeeChange: Event<TaskChange>;
}

/** Answers with every task's record at the first change since `cursor`, when all have ended, or when the time is over. Throws TASK_NOT_FOUND. */
export async function waitForTasks(query: TaskWait, options: TaskWaiterOptions): Promise<WaitOutcome> {
  const { clock, get, watch, onDidSeeChange } = options;
  const cursor = WaitCursor.parse(query.cursor);
  const watches = new DisposableStore();
  /** Tasks that were seen in the queue: that one starts is news also to a caller without a cursor. */
  const queued = new Set<string>();
  /** The `change_seq` of each record that was read. */
  const read = new Map<string, number>();
  try {
    return await new Promise((resolve, reject) => {
      const stale = new Set<string>();
      let isLast = false;
      let isLooking = false;
      const check = async (): Promise<void> => {
        while (stale.size > 0 || isLast) {
          const isWhole = isLast || query.taskIds.every((id) => stale.has(id));
          // Only what has changed: of many tasks, each has news of its own.
          const ids = isWhole ? query.taskIds : [...stale];
          const ends = isLast;
          stale.clear();
          const tasks = await Promise.all(ids.map((id) => get(id)));
          const changed = new Set(cursor.changed(tasks));
          for (const { task_id, status, change_seq } of tasks) {
            read.set(task_id, change_seq);
            if (status === 'pending') queued.add(task_id);
            else if (queued.has(task_id)) changed.add(task_id);
          }
          // Of tasks that have all ended there is nothing to wait for, also when the caller knows it.
          const isOver = isWhole && tasks.every(({ status }) => isFinal(status));
          if (changed.size === 0 && !ends && !isOver) continue;
          if (isWhole) {
            resolve({ tasks, changed: [...changed], cursor: WaitCursor.of(tasks) });
            return;
          }
          for (const id of query.taskIds) stale.add(id);
        }
        isLooking = false;
      };
      // One check at a time; a change during a check is checked after it.
      const lookNext = (): void => {
        if (isLooking) return;
        isLooking = true;
        check().catch(reject);
      };
      const onChange = ({ taskId, changeSeq = Infinity }: TaskChange): void => {
        if (!query.taskIds.includes(taskId)) return;
        // Only its output changed: a task that prints reports that several times a second.
        if (changeSeq <= (read.get(taskId) ?? -1)) return;
        stale.add(taskId);
        lookNext();
      };
      const end = (): void => {
        isLast = true;
        lookNext();
      };
      for (const id of query.taskIds) watches.add(watch(id));
      watches.add(onDidSeeChange(onChange));
      watches.add(clock.after(query.timeoutMs, end));
      if (query.onProgress !== undefined) watches.add(tellProgress(query.taskIds, query.onProgress, options));
      query.signal.addEventListener('abort', end, { once: true });
      watches.add(toDisposable(() => query.signal.removeEventListener('abort', end)));
      for (const id of query.taskIds) stale.add(id);
      isLast = query.signal.aborted;
      lookNext();
    });
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
