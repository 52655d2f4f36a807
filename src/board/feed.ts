import { watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import type { Put } from './channel.js';
import type { Values } from './state.js';

/** A task that prints changes many times a second; a page needs no more than this. */
const QUIET_MS = 80;

/** What every feed needs. */
export interface FeedOptions {
  readonly tasks: TaskService;
  readonly tasksDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Gives all values of a task; the signal aborts when the last follower has left. */
type ReadTask = (record: TaskRecord, left: AbortSignal) => Promise<Values>;

/**
 * Follows one task: what `start` gives reads all values, at first and whenever the record or the folder of the task has changed, or
 * `again` was called. Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE, and as the first reading.
 */
export async function followTask(
  { tasks, tasksDir, clock, logger }: FeedOptions,
  put: Put,
  taskId: string,
  start: (again: () => void, owned: DisposableStore) => ReadTask,
): Promise<Disposable> {
  const owned = new DisposableStore();
  const left = leftWith(owned);
  let last: Values = new Map();
  const look = async (): Promise<void> => {
    last = await read(await tasks.get(taskId), left);
    if (!left.aborted) put(last);
  };
  const again = refresher(clock, left, () =>
    look().catch((error: unknown) => {
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND')
        put(new Map([...last, ['task', null]]));
      else if (!left.aborted) logger.warn('A task could not be read', { taskId, error: messageOf(error) });
    }),
  );
  const read = start(again, owned);
  owned.add(tasks.onDidChange((changed) => changed === taskId && again()));
  owned.add(tasks.watch(taskId));
  // An entry of the journal changes no record.
  owned.add(watchFolder(join(tasksDir, taskId), again, logger));
  try {
    await look();
  } catch (error) {
    owned.dispose();
    throw error;
  }
  again();
  return owned;
}

/** Aborts when `owned` is disposed. */
export function leftWith(owned: DisposableStore): AbortSignal {
  const left = new AbortController();
  owned.add(toDisposable(() => left.abort()));
  return left.signal;
}

/** What has something read again: one reading at a time, one in 80 ms, and one more for changes meanwhile. `read` must not reject. */
export function refresher(clock: Clock, left: AbortSignal, read: () => Promise<void>): () => void {
  let isReading = false;
  let isStale = false;
  const run = async (): Promise<void> => {
    isReading = true;
    while (isStale && !left.aborted) {
      isStale = false;
      await read();
      await sleep(clock, QUIET_MS, left);
    }
    isReading = false;
  };
  return () => {
    isStale = true;
    if (!isReading) void run();
  };
}

/** Calls back for each change in a folder until disposed, where the system can watch it. */
function watchFolder(folder: string, onChange: () => void, logger: Logger): Disposable {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, onChange);
  } catch (error) {
    logger.debug('A folder cannot be watched', { folder, error: messageOf(error) });
    return toDisposable(() => undefined);
  }
  watcher.on('error', (error) => {
    logger.debug('A folder is no longer watched', { folder, error: messageOf(error) });
    watcher.close();
  });
  return toDisposable(() => watcher.close());
}
