import { rmSync } from 'node:fs';
import { BridgeError } from '../../base/errors.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import type { RuntimeDir } from '../../store/runtime-dir.js';
import type { StateDir } from '../../store/state-dir.js';
import { taskRecordSchema, type TaskRecord } from '../../tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../../tasks/task-host.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { KeeperClient } from './keeper-client.js';
import { launchKeeper, type KeeperProgram } from './launch-keeper.js';

export interface KeeperHostOptions extends Pick<
  KeeperProgram,
  'keeperEntry' | 'nodeArguments' | 'env' | 'logLevel'
> {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
}

/** Runs each task in a keeper process of its own, which outlives this one. */
export class KeeperHost implements TaskHost {
  readonly #options: KeeperHostOptions;

  constructor(options: KeeperHostOptions) {
    this.#options = options;
  }

  connect({
    task_id,
    socket_path = this.#options.runtimeDir.socketPath(task_id),
  }: KeptTaskName): Promise<TaskLink | undefined> {
    return KeeperClient.connect(task_id, socket_path);
  }

  async launch({ task_id: taskId }: TaskSpec): Promise<TaskRecord> {
    const { stateDir, runtimeDir, env, keeperEntry, nodeArguments, logLevel } = this.#options;
    const log = stateDir.keeperLog(taskId);
    let isUp = true;
    try {
      return await launchKeeper(
        {
          keeperEntry,
          nodeArguments,
          statePath: stateDir.path,
          runtimePath: runtimeDir.path,
          // A server inside a task has that task's mark. What it starts from the queue may belong to others.
          env: { ...env, [MARK_VARIABLE]: undefined },
          logLevel,
        },
        {
          id: taskId,
          log,
          record: taskRecordSchema,
          failure: (why) => {
            isUp = false;
            return new BridgeError(
              'TASK_START_FAILED',
              `The keeper process of ${taskId} could not be started: ${why}.`,
              `See ${log} and the server log.`,
            );
          },
        },
      );
    } finally {
      // A keeper that died while it started could not remove it.
      if (!isUp) rmSync(runtimeDir.socketPath(taskId), { force: true });
    }
  }
}
