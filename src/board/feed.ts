import { watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel, QUIET_MS, type OpenChannel } from './channel.js';
import type { Values } from './state.js';

/** What every feed needs. */
export interface FeedOptions {
  readonly tasks: TaskService;
  readonly tasksDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a feed of one task reads with. */
export interface TaskReading {
  /** Aborts when the last follower has left. */
  readonly signal: AbortSignal;
  /** What was read may have changed: it is read again. */
  readonly again: () => void;
  /** Is disposed with the channel. */
  readonly owned: DisposableStore;
}

/**
 * Follows one task: `read` gives all values, at first and whenever the record, the log or the folder of the task has changed.
 * Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE, and as the first `read`.
 */
export async function followTask(
  { tasks, tasksDir, clock, logger }: FeedOptions,
  name: string,
  taskId: string,
  read: (record: TaskRecord, reading: TaskReading) => Promise<Values>,
): Promise<OpenChannel> {
  const owned = new DisposableStore();
  const left = new AbortController();
  owned.add(toDisposable(() => left.abort()));
  const channel = owned.add(new Channel(name, clock));
  const again = (): void => refresher.changed();
  const look = async (): Promise<void> => {
    const values = await read(await tasks.get(taskId), { signal: left.signal, again, owned });
    if (!owned.isDisposed) channel.put(values);
  };
  const refresher = owned.add(
    new Refresher(clock, () =>
      look().catch((error: unknown) => {
        if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND')
          channel.put(new Map([...channel.values, ['task', null]]));
        else if (!left.signal.aborted)
          logger.warn('A task could not be read', { taskId, channel: name, error: messageOf(error) });
      }),
    ),
  );
  owned.add(tasks.onDidChange((changed) => changed === taskId && again()));
  owned.add(tasks.watch(taskId));
  // What becomes of its work is decided after its end, by any process.
  owned.add(watchFolder(join(tasksDir, taskId), again, logger));
  try {
    await look();
  } catch (error) {
    owned.dispose();
    throw error;
  }
  again();
  return { channel, dispose: () => owned.dispose() };
}

/** Reads something again after it changed: one reading at a time, and one more for changes meanwhile. */
export class Refresher implements Disposable {
  readonly #clock: Clock;
  readonly #refresh: () => Promise<void>;
  #timer: Disposable | undefined;
  #isRunning = false;
  #isStale = false;
  #isDisposed = false;

  /** `refresh` must not reject. */
  constructor(clock: Clock, refresh: () => Promise<void>) {
    this.#clock = clock;
    this.#refresh = refresh;
  }

  changed(): void {
    if (this.#isDisposed) return;
    this.#isStale = true;
    if (this.#isRunning || this.#timer !== undefined) return;
    void this.#run();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.#isStale = false;
    await this.#refresh();
    this.#isRunning = false;
    if (this.#isDisposed) return;
    this.#timer = this.#clock.after(QUIET_MS, () => {
      this.#timer = undefined;
      if (this.#isStale) this.changed();
    });
  }
}

/** Calls back for each change in a folder until disposed, where the system can watch it. */
export function watchFolder(
  folder: string,
  onChange: (name: string | null) => void,
  logger: Logger,
): Disposable {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, (_event, name) => onChange(name));
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
