import { Closers } from '../../base/closers.js';
import { openTask } from './open-task.js';
import { runTask } from './run-task.js';
import type { KeepTaskOptions } from './task-plan.js';

/**
 * Runs one task from its start to its end. Resolves when the task has ended and all its processes are gone; rejects when it could
 * not be started, with nothing left behind.
 */
export async function keepTask(options: KeepTaskOptions): Promise<void> {
  const closers = new Closers(options.logger);
  try {
    await runTask(await openTask(options, closers), options, closers);
  } finally {
    await closers.close();
  }
}
