import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { systemClock } from '../../base/system-clock.js';
import { isFinal, taskRecordSchema } from '../../tasks/task.js';
import type { TaskPlan } from '../main/task-plan.js';
import { KeeperClient } from './keeper-client.js';

/** A keeper ends its task and that task's children within this time; what is left then is ended by its mark. */
const CHILDREN_LIMIT_MS = 15_000;

/**
 * Ends the tasks that were started inside a task, each through its keeper, so that its record says why. Resolves when they
 * have ended, or after 15 seconds. Never rejects.
 */
export async function endChildren({
  spec: { task_id: taskId },
  stateDir,
  logger,
}: Pick<TaskPlan, 'spec' | 'stateDir' | 'logger'>): Promise<void> {
  const endOne = async (child: string): Promise<void> => {
    const file = await readJsonFile(stateDir.recordFile(child), taskRecordSchema);
    if (file.state !== 'ok' || isFinal(file.value.status) || file.value.parent?.task_id !== taskId) return;
    const link = await KeeperClient.connect(child, file.value.socket_path);
    await link?.kill(`The task inside which it was started, ${taskId}, ended.`).finally(() => link.dispose());
  };
  const ends = (await stateDir.childrenOf(taskId)).map((child) =>
    endOne(child).catch((error: unknown) =>
      logger.warn('a task that was started inside this one could not be ended by its keeper', {
        task_id: child,
        error: messageOf(error),
      }),
    ),
  );
  await withinMs(systemClock, CHILDREN_LIMIT_MS, Promise.all(ends));
}
