import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';

/** Far more than run at once. */
const MAX_TASKS = 1_000;

/** Stays with every running task, so that those that need a server have this one. Told in the log when it fails. */
export async function joinRunningTasks({
  tasks,
  host,
  logger,
}: {
  readonly tasks: Pick<TaskService, 'list'>;
  readonly host: { stay(record: TaskRecord): void };
  readonly logger: Logger;
}): Promise<void> {
  try {
    const running = await tasks.list({ status: 'active', limit: MAX_TASKS });
    for (const record of running.tasks) host.stay(record);
  } catch (fault) {
    logger.warn('running tasks could not be joined', { fault: messageOf(fault) });
  }
}
