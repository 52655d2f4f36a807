import { readFile } from 'node:fs/promises';
import type { Logger } from '../../base/logger.js';
import { LIFE_VARIABLE } from '../../os/mark-variable.js';
import { pathOutside } from '../../projects/path-outside.js';
import { lifeFile } from '../../store/owner-state.js';
import { ownIdentity } from '../../store/process-identity.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { TaskLaunch } from '../wire/launch-input.js';

export interface KeepTaskOptions {
  readonly launch: TaskLaunch;
  readonly statePath: string;
  readonly runtimePath: string;
  /** Of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Called once when the agent runs. */
  readonly onReady: (record: TaskRecord) => void;
  /** Called with the run, by which a signal to this process ends the task. */
  readonly onRun: (run: TaskRun) => void;
}

/** What is known of a task before anything is created for it. */
export interface TaskPlan extends Pick<KeepTaskOptions, 'env' | 'logger'> {
  readonly spec: TaskSpec;
  /** Undefined for one in a container. */
  readonly program: TaskLaunch['program'];
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

/** Rejects with the system's error when the prompt cannot be read. */
export async function readPlan(options: KeepTaskOptions): Promise<TaskPlan> {
  const { launch, statePath, runtimePath, env, logger } = options;
  const { spec, mark, program } = launch;
  const stateDir = new StateDir(statePath);
  const life = await lifeFile(statePath);
  return {
    spec,
    program,
    prompt: await readFile(stateDir.promptFile(spec.task_id), 'utf8'),
    stateDir,
    socketPath: new RuntimeDir(runtimePath).socketPath(spec.task_id),
    homeDir: env['HOME'] ?? '/',
    owner: await ownIdentity(),
    mark,
    childEnv: {
      ...launch.env,
      // What makes the sandbox runs outside of it.
      ...(spec.permission_mode === 'sandboxed' && {
        PATH: await pathOutside(launch.env['PATH'] ?? '', [
          spec.project_path,
          spec.worktree?.repository ?? spec.project_path,
        ]),
      }),
      ...(life !== undefined && { [LIFE_VARIABLE]: life }),
    },
    env,
    logger,
  };
}
