// Pure.
import { messageOf } from '../../base/errors.js';
import { type Event, DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { TaskService } from '../task-service.js';
import { isFinal, type TaskRecord } from '../task.js';

/** One wait; the next follows. */
const WAIT_MS = 600_000;

/** Logs the start and the end of each task that this server starts, until disposed. */
export function logTasks(
  tasks: Pick<TaskService, 'wait'> & { readonly onDidStart: Event<TaskRecord> },
  logger: Logger,
): Disposable {
  const owned = new DisposableStore();
  const stop = new AbortController();
  owned.add(toDisposable(() => stop.abort()));
  const follow = async (started: TaskRecord): Promise<void> => {
    let record = started;
    let cursor: string | undefined;
    logStart(record, logger);
    while (!isFinal(record.status) && !stop.signal.aborted) {
      const taskIds = [started.task_id];
      const waited = await tasks.wait({ taskIds, timeoutMs: WAIT_MS, cursor, signal: stop.signal });
      cursor = waited.cursor;
      const [now = record] = waited.tasks;
      if (record.status === 'pending' && now.started_at !== null) logStart(now, logger);
      record = now;
    }
    if (isFinal(record.status)) logEnd(record, logger);
  };
  owned.add(
    tasks.onDidStart((record) => {
      follow(record).catch((error: unknown) =>
        logger.warn('The end of a task will not be logged', {
          task_id: record.task_id,
          error: messageOf(error),
        }),
      );
    }),
  );
  return owned;
}

function logStart({ task_id, project_path, status }: TaskRecord, logger: Logger): void {
  logger.info(`Task ${status === 'pending' ? 'queued' : 'started'}: ${task_id}`, { project: project_path });
}

/** Without its reason, which may hold what the agent printed. */
function logEnd({ task_id, status, exit_code, signal }: TaskRecord, logger: Logger): void {
  logger.info(`Task ${status}: ${task_id}`, { exit_code, signal });
}
