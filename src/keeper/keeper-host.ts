import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { BridgeError, isErrorCode, messageOf } from '../base/errors.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskHost, TaskLink } from '../tasks/task-host.js';
import type { TaskSpec } from '../tasks/task-spec.js';
import { KeeperClient } from './keeper-client.js';
import { readyMessageSchema, type ReadyMessage } from './messages.js';
import { ServerPresence } from './server-presence.js';

/** A keeper starts in about 150 ms; on a machine that is this slow, nothing would work. */
const READY_LIMIT_MS = 20_000;
const MAX_READY_BYTES = 1024 * 1024;

export interface KeeperHostOptions {
  /** The program that keeps one task (`dist/keeper.js`), run by this Node. */
  readonly keeperEntry: string;
  /** Arguments for Node itself; a test runs the sources. */
  readonly nodeArguments: readonly string[];
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs each task in a keeper process of its own, which outlives this one. */
export class KeeperHost implements TaskHost {
  readonly #options: KeeperHostOptions;
  readonly #presence = new ServerPresence();

  constructor(options: KeeperHostOptions) {
    this.#options = options;
  }

  async launch(spec: TaskSpec): Promise<TaskRecord> {
    const ready = await this.#start(spec.task_id);
    if ('record' in ready) {
      if (spec.settings.stop_without_server_seconds !== undefined) this.stay(ready.record);
      return ready.record;
    }
    const { code, message, hint } = ready.error;
    throw new BridgeError(isErrorCode(code) ? code : 'TASK_START_FAILED', message, hint);
  }

  async connect(record: TaskRecord): Promise<TaskLink | undefined> {
    const link = await KeeperClient.connect(record.task_id, record.socket_path);
    void link?.greeted.then((hello) => (hello?.needs_server === true ? this.stay(record) : undefined));
    return link;
  }

  /** Lets go of the tasks that need a server. */
  dispose(): void {
    this.#presence.dispose();
  }

  /** Stays connected to a task that ends without a server; does nothing for others. */
  stay(record: TaskRecord): void {
    // A keeper that cannot be reached is no longer there, or ends its task: whoever reads it is told.
    this.#presence.stay(record).catch(() => undefined);
  }

  /** Starts the process and waits for its one line: it runs, or why not. */
  #start(taskId: string): Promise<ReadyMessage> {
    const { keeperEntry, nodeArguments, stateDir, runtimeDir, env } = this.#options;
    const log = openSync(stateDir.keeperLog(taskId), 'a', 0o600);
    try {
      const child = spawn(
        process.execPath,
        [...nodeArguments, keeperEntry, taskId, stateDir.path, runtimeDir.path],
        {
          // A session of its own: neither the client's end nor its Ctrl-C reaches the keeper.
          detached: true,
          cwd: stateDir.path,
          env,
          stdio: ['ignore', log, log, 'pipe'],
        },
      );
      return new Promise((resolve, reject) => {
        const failed = (why: string): void => {
          // A keeper that died while it started cannot do so itself.
          rmSync(runtimeDir.socketPath(taskId), { force: true });
          reject(
            new BridgeError(
              'TASK_START_FAILED',
              `The keeper process of ${taskId} could not be started: ${why}.`,
              `See ${stateDir.keeperLog(taskId)} and the server log.`,
            ),
          );
        };
        const timer = setTimeout(() => {
          child.kill('SIGKILL');
          failed(`it was not ready within ${READY_LIMIT_MS / 1000} s`);
        }, READY_LIMIT_MS);
        const pipe = child.stdio[3];
        let text = '';
        pipe?.on('data', (chunk: unknown) => {
          text += String(chunk);
          if (text.length > MAX_READY_BYTES) child.kill('SIGKILL');
        });
        pipe?.on('close', () => {
          clearTimeout(timer);
          child.unref();
          const ready = parseReady(text);
          if (ready === undefined) failed(text === '' ? 'it ended at once' : 'it said something else');
          else resolve(ready);
        });
        child.on('error', (fault) => {
          clearTimeout(timer);
          failed(messageOf(fault));
        });
      });
    } finally {
      closeSync(log);
    }
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
