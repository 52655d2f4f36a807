import { silentLogger } from '../../src/base/logger.js';
import { findForTask } from '../../src/keeper/agent/recognise-program.js';
import { keepTask } from '../../src/keeper/main/keep-task.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import type { Lock } from '../../src/store/project-lock.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../../src/tasks/task-host.js';
import type { TaskRun } from '../../src/tasks/run/task-run.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';

/** Keeps tasks in this process, without a socket between caller and run. */
export class InProcessHost implements TaskHost {
  readonly #places: { readonly statePath: string; readonly runtimePath: string };
  readonly #env: Readonly<Record<string, string>>;
  readonly #runs = new Map<string, TaskRun>();

  constructor(
    places: { readonly statePath: string; readonly runtimePath: string },
    env: Readonly<Record<string, string>>,
  ) {
    this.#places = places;
    this.#env = env;
  }

  async launch(spec: TaskSpec, lease?: Lock): Promise<TaskRecord> {
    const taskId = spec.task_id;
    const found = await findForTask(spec, { ...this.#places, env: this.#env });
    const path = await lease?.handTo(await ownIdentity());
    return new Promise((resolve, reject) => {
      keepTask({
        ...this.#places,
        launch: { spec, ...found, lease: path },
        env: this.#env,
        logger: silentLogger,
        onReady: resolve,
        onRun: (run) => this.#runs.set(taskId, run),
      })
        .catch(reject)
        .finally(() => this.#runs.delete(taskId));
    });
  }

  async connect(record: KeptTaskName): Promise<TaskLink | undefined> {
    const run = this.#runs.get(record.task_id);
    if (run === undefined) return undefined;
    return {
      // As a keeper does, it says how the task is when somebody connects.
      onRecord: (listener) => {
        setImmediate(() => listener(run.record));
        return run.onDidChange(listener);
      },
      respond: (answer) => run.respond(answer),
      message: (message) => run.message(message),
      kill: (reason) => run.kill(reason),
      screen: () => run.screen(),
      dispose: () => undefined,
    };
  }
}
