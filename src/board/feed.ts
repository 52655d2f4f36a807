import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { watchFolder } from '../base/files/watch-folder.js';
import type { Logger } from '../base/logger.js';
import { leftWith, refresher } from '../base/refresher.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import type { Put } from './channel.js';
import type { Values } from './state.js';

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
  // An entry of the journal changes no record; another machine reports it.
  if (farIdOf(taskId) === undefined) owned.add(watchFolder(join(tasksDir, taskId), again, logger));
  try {
    await look();
  } catch (error) {
    owned.dispose();
    throw error;
  }
  again();
  return owned;
}
