import { silentLogger } from '../../src/base/logger.js';
import { keepTask } from '../../src/keeper/main/keep-task.js';
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

  launch(spec: TaskSpec): Promise<TaskRecord> {
    const taskId = spec.task_id;
    return new Promise((resolve, reject) => {
      keepTask({
        ...this.#places,
        taskId,
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
