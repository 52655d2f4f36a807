// Pure: waits for changes of tasks.
import { sleep, type Clock } from '../../base/clock.js';
import { invalidCursor } from '../../base/input.js';
import { type Disposable, DisposableStore, type Event, toDisposable } from '../../base/lifecycle.js';
import { isFinal, openDecisions, type TaskRecord, TURN_OVER } from '../task.js';
import type { TaskWait, WaitOutcome } from '../task-service.js';

/** A progress word while a caller waits: often enough to show life, seldom enough to cost nothing. */
const PROGRESS_INTERVAL_MS = 5_000;
/** What stands in a cursor for a task, of this machine or of another. */
const CURSOR_PART = /^((?:[a-z][a-z0-9-]*\/)?task_[0-9a-f]{20}):(\d{1,12})$/;
/** A CLI that has answered leaves within 10 s, or is ended. */
const LEAVE_LIMIT_MS = 15_000;

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
  const { taskIds, signal, onProgress, timeoutMs } = query;
  const news = newsSince(changedSince(query.cursor));
  const watches = new DisposableStore();
  const over = new AbortController();
  /** What happened since the tasks were read. */
  let isStale = false;
  let wake = (): void => undefined;
  const look = (): void => {
    isStale = true;
    wake();
  };
  const end = (): void => {
    over.abort();
    look();
  };
  try {
    for (const id of taskIds) watches.add(watch(id));
    watches.add(onDidChange((taskId) => taskIds.includes(taskId) && look()));
    watches.add(clock.after(timeoutMs, end));
    signal.addEventListener('abort', end, { once: true });
    watches.add(toDisposable(() => signal.removeEventListener('abort', end)));
    if (signal.aborted) end();
    if (onProgress !== undefined) void tellProgress(taskIds, onProgress, options, over.signal);
    for (;;) {
      const ends = over.signal.aborted;
      const tasks = await Promise.all(taskIds.map((id) => get(id)));
      const changed = news(tasks);
      // Of tasks that have all ended there is nothing to wait for, also when the caller knows it.
      if (ends || changed.length > 0 || tasks.every(({ status }) => isFinal(status)))
        return { tasks, changed, cursor: WaitCursor.of(tasks) };
      // A change during a check is checked after it.
      if (!isStale) await new Promise<void>((resolve) => (wake = resolve));
      isStale = false;
    }
  } finally {
    over.abort();
    watches.dispose();
  }
}

/** The record when the session that gave an answer has been left, since only then its transcript is whole; any other record as it is. */
export async function sessionLeft(
  record: TaskRecord,
  wait: (query: TaskWait) => Promise<WaitOutcome>,
): Promise<TaskRecord> {
  if (isFinal(record.status) || record.answered !== true) return record;
  const signal = AbortSignal.timeout(LEAVE_LIMIT_MS);
  const { tasks } = await wait({ taskIds: [record.task_id], timeoutMs: LEAVE_LIMIT_MS, signal });
  return tasks[0] ?? record;
}

/** Tells which tasks have news. What is seen from one time to the next is news also to a caller without a cursor: a start, a change while one runs. */
function newsSince(changedBefore: (tasks: readonly TaskRecord[]) => string[]): typeof changedBefore {
  const queued = new Set<string>();
  /** The `change_seq` with which a task was first seen running. */
  const running = new Map<string, number>();
  return (tasks) => {
    const changed = new Set(changedBefore(tasks));
    for (const { task_id, status, change_seq } of tasks) {
      if (status === 'pending') queued.add(task_id);
      else if (queued.has(task_id) || change_seq > (running.get(task_id) ?? change_seq)) changed.add(task_id);
      else if (status === 'running') running.set(task_id, change_seq);
    }
    return [...changed];
  };
}

async function tellProgress(
  taskIds: readonly string[],
  tell: (text: string) => void,
  { clock, get }: TaskWaiterOptions,
  over: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(clock, PROGRESS_INTERVAL_MS, over);
    // The wait itself reports a task that vanished.
    const tasks = await Promise.all(taskIds.map((id) => get(id))).catch(() => undefined);
    if (over.aborted || tasks === undefined) return;
    const lines = tasks.map(({ task_id, status, elapsed_seconds, reason, activity }) => {
      const doing = status === 'pending' ? reason : activity;
      return `${task_id}: ${status}, ${elapsed_seconds} s, ${doing}`;
    });
    tell(lines.join('\n'));
  }
}

/** What a waiting caller has seen of each task, as text: `task_…:<change_seq>`, joined by commas. */
export const WaitCursor = {
  of: (tasks: readonly TaskRecord[]): string =>
    tasks.map(({ task_id, change_seq }) => `${task_id}:${change_seq}`).join(','),
  /** For a caller that has seen nothing of the tasks: the first check answers immediately. */
  beforeAll: (taskIds: readonly string[]): string => taskIds.map((taskId) => `${taskId}:0`).join(','),
};

/**
 * Ids of the tasks that changed since a cursor. A task that the cursor does not know counts as changed when there is nothing to
 * wait for: it has ended, its turn has, or it waits for the caller. Throws INVALID_ARGUMENTS for an invalid cursor.
 */
export function changedSince(cursor = ''): (tasks: readonly TaskRecord[]) => string[] {
  const pieces = cursor === '' ? [] : cursor.split(',');
  const seen = new Map(
    pieces.map((piece) => {
      const [, id, seq] = CURSOR_PART.exec(piece) ?? [];
      if (id === undefined) throw invalidCursor();
      return [id, Number(seq)];
    }),
  );
  const isNews = (task: TaskRecord): boolean => {
    const seq = seen.get(task.task_id);
    if (seq !== undefined) return task.change_seq > seq;
    const waits = task.status === 'waiting' || openDecisions(task).length > 0;
    return waits || isFinal(task.status) || task.reason.startsWith(TURN_OVER);
  };
  return (tasks) => tasks.filter(isNews).map((task) => task.task_id);
}
