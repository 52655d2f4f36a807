import { rmSync } from 'node:fs';
import { BridgeError, isErrorCode } from '../base/errors.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskRecord } from '../tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../tasks/task-host.js';
import type { TaskSpec } from '../tasks/task-spec.js';
import { KeeperClient } from './keeper-client.js';
import { readyMessageSchema, type ReadyMessage } from './messages.js';
import { readyLine } from './ready-line.js';
import { ServerPresence, type KeptTask, type Stay } from './server-presence.js';
import { spawnKeeper, type KeeperProgram } from './spawn-keeper.js';

const MAX_READY_BYTES = 1024 * 1024;

export interface KeeperHostOptions extends Pick<KeeperProgram, 'keeperEntry' | 'nodeArguments' | 'env'> {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
}

/** Runs each task in a keeper process of its own, which outlives this one. */
export class KeeperHost implements TaskHost {
  readonly #options: KeeperHostOptions;
  readonly #presence = new ServerPresence();
  readonly #program: KeeperProgram;

  constructor(options: KeeperHostOptions) {
    this.#options = options;
    const { keeperEntry, nodeArguments, stateDir, runtimeDir, env } = options;
    this.#program = {
      keeperEntry,
      nodeArguments,
      statePath: stateDir.path,
      runtimePath: runtimeDir.path,
      // A server inside a task has that task's mark. Not all that it starts belongs to the task: the queue is everybody's.
      env: { ...env, [MARK_VARIABLE]: undefined },
    };
  }

  async launch(spec: TaskSpec): Promise<TaskRecord> {
    const ready = await this.#start(spec);
    if ('record' in ready) {
      if (spec.settings.stop_without_server_seconds !== undefined) this.#stayIfReached(ready.record);
      return ready.record;
    }
    const { code, message, hint } = ready.error;
    throw new BridgeError(isErrorCode(code) ? code : 'TASK_START_FAILED', message, hint);
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
    // A keeper that cannot be reached now is joined later, when this server joins tasks, or ends its task: whoever reads it is told.
    this.stay(task).catch(() => undefined);
  }

  /** Starts the process and waits for its one line: it runs, or why not. */
  async #start({ task_id: taskId, parent }: TaskSpec): Promise<ReadyMessage> {
    const { stateDir, runtimeDir } = this.#options;
    const log = stateDir.keeperLog(taskId);
    const program =
      parent === undefined
        ? this.#program
        : { ...this.#program, env: { ...this.#program.env, [MARK_VARIABLE]: parent.mark } };
    const line = await readyLine(spawnKeeper(program, taskId, log), MAX_READY_BYTES);
    const ready = line.kind === 'said' ? parseReady(line.text) : undefined;
    if (ready !== undefined) return ready;
    const said = line.kind === 'said' && line.text !== '' ? 'it said something else' : 'it ended at once';
    // A keeper that died while it started cannot do so itself.
    rmSync(runtimeDir.socketPath(taskId), { force: true });
    throw new BridgeError(
      'TASK_START_FAILED',
      `The keeper process of ${taskId} could not be started: ${line.kind === 'failed' ? line.why : said}.`,
      `See ${log} and the server log.`,
    );
  }
}

function parseReady(text: string): ReadyMessage | undefined {
  try {
    return readyMessageSchema.parse(JSON.parse(text));
  } catch {
    // Told by the caller as "it said something else", with the keeper's own log beside it.
    return undefined;
  }
}
