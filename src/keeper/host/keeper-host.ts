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
import { ServerPresence, type KeptTask, type Stay } from './server-presence.js';

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
  readonly #presence = new ServerPresence();

  constructor(options: KeeperHostOptions) {
    this.#options = options;
  }

  async launch(spec: TaskSpec): Promise<TaskRecord> {
    const record = await this.#start(spec);
    if (spec.settings.stop_without_server_seconds !== undefined) this.#stayIfReached(record);
    return record;
  }

  async connect({
    task_id,
    socket_path = this.#options.runtimeDir.socketPath(task_id),
  }: KeptTaskName): Promise<TaskLink | undefined> {
    const link = await KeeperClient.connect(task_id, socket_path);
    void link?.greeted.then((hello) => {
      if (hello?.needs_server === true) this.#stayIfReached({ task_id, socket_path });
    });
    return link;
  }

  /** Closes the connections to the tasks that need a server. */
  dispose(): void {
    this.#presence.dispose();
  }

  /** Stays connected to a task that ends without a server; does nothing for others. Throws TASK_UNREACHABLE. */
  stay(task: KeptTask): Promise<Stay> {
    return this.#presence.stay(task);
  }

  #stayIfReached(task: KeptTask): void {
    // If the keeper cannot be reached now, this server tries again when it joins tasks.
    this.stay(task).catch(() => undefined);
  }

  async #start({ task_id: taskId, parent }: TaskSpec): Promise<TaskRecord> {
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
          env: { ...env, [MARK_VARIABLE]: parent?.mark },
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
