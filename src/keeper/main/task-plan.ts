import { readFile } from 'node:fs/promises';
import { BridgeError } from '../../base/errors.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { createSecret } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import { LIFE_VARIABLE } from '../../os/mark-variable.js';
import { childEnvironment, loopbackPastProxy } from '../../pty/child-env.js';
import { lifeFile } from '../../store/owner-state.js';
import { ownIdentity } from '../../store/process-identity.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import { delegatedEnvironment } from '../../tasks/delegation.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import { taskSpecSchema, type TaskSpec } from '../../tasks/task-spec.js';
import type { TaskRecord } from '../../tasks/task.js';

export interface KeepTaskOptions {
  readonly taskId: string;
  readonly statePath: string;
  readonly runtimePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Called once when the agent runs. */
  readonly onReady: (record: TaskRecord) => void;
  /** Called with the run, by which a signal to this process ends the task. */
  readonly onRun: (run: TaskRun) => void;
}

/** What is known of a task from its spec and this process, before anything is created for it. */
export interface TaskPlan extends Pick<KeepTaskOptions, 'env' | 'logger'> {
  readonly spec: TaskSpec;
  readonly prompt: string;
  readonly stateDir: StateDir;
  readonly socketPath: string;
  readonly homeDir: string;
  /** This process. */
  readonly owner: ProcessIdentity;
  /** The secret in the environment of all processes of the task. */
  readonly mark: string;
  /** The environment of a program on this machine. */
  readonly childEnv: Readonly<Record<string, string>>;
}

/** Throws TASK_START_FAILED for a spec that cannot be read. */
export async function readPlan(options: KeepTaskOptions): Promise<TaskPlan> {
  const { taskId, statePath, runtimePath, env, logger } = options;
  const stateDir = new StateDir(statePath);
  const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
  if (file.state !== 'ok') {
    throw new BridgeError(
      'TASK_START_FAILED',
      `The task's spec ${stateDir.specFile(taskId)} is ${file.state}.`,
      'Start the task again.',
    );
  }
  const spec = file.value;
  const mark = createSecret();
  const life = await lifeFile(statePath);
  const extra = { ...delegatedEnvironment(spec), ...(life !== undefined && { [LIFE_VARIABLE]: life }) };
  const passEnvironment = spec.settings.pass_environment;
  return {
    spec,
    prompt: await readFile(stateDir.promptFile(taskId), 'utf8'),
    stateDir,
    socketPath: new RuntimeDir(runtimePath).socketPath(taskId),
    homeDir: env['HOME'] ?? '/',
    owner: await ownIdentity(),
    mark,
    childEnv: loopbackPastProxy(childEnvironment(env, { mark, extra, passEnvironment })),
    env,
    logger,
  };
}
