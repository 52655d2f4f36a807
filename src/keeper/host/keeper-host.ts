import { rmSync } from 'node:fs';
import { BridgeError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/system-clock.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import { killTree } from '../../pty/kill-ladder.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import { TaskQueue } from '../../tasks/queue/task-queue.js';
import { taskRecordSchema, type TaskRecord } from '../../tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../../tasks/task-host.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { KeeperClient } from './keeper-client.js';
import { launchKeeper, type KeeperProgram } from './launch-keeper.js';

/** Runs each task in a keeper process of its own, which outlives this one. */
export class KeeperHost implements TaskHost {
  readonly #program: KeeperProgram;
  readonly #stateDir: StateDir;
  readonly #runtimeDir: RuntimeDir;

  constructor(program: KeeperProgram) {
    this.#program = program;
    this.#stateDir = new StateDir(program.statePath);
    this.#runtimeDir = new RuntimeDir(program.runtimePath);
  }

  connect({
    task_id,
    socket_path = this.#runtimeDir.socketPath(task_id),
  }: KeptTaskName): Promise<TaskLink | undefined> {
    return KeeperClient.connect(task_id, socket_path);
  }

  async launch({ task_id: taskId }: TaskSpec): Promise<TaskRecord> {
    const log = this.#stateDir.keeperLog(taskId);
    // A server inside a task has that task's mark. What it starts from the queue may belong to others.
    const program = { ...this.#program, env: { ...this.#program.env, [MARK_VARIABLE]: undefined } };
    let isUp = true;
    try {
      return await launchKeeper(program, {
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
      });
    } finally {
      // A keeper that died while it started could not remove it.
      if (!isUp) rmSync(this.#runtimeDir.socketPath(taskId), { force: true });
    }
  }
}

/** Time between SIGTERM and SIGKILL for processes of a dead keeper. */
const LEFTOVER_GRACE_MS = 1_000;

/** Starts what waits for the project of a task that has ended, so that the queue goes on without a server. */
export async function continueQueue(program: KeeperProgram, logger: Logger): Promise<void> {
  const stateDir = new StateDir(program.statePath);
  const clock = systemClock;
  const queue = new TaskQueue({
    stateDir,
    locks: new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
      logger.error('a lock file could not be read', { ...corrupt }),
    ),
    host: new KeeperHost(program),
    clock,
    logger,
    endMarked: async (mark, startedSince) =>
      (await killTree({ mark, startedSince, clock, graceMs: LEFTOVER_GRACE_MS })).ended.length,
    modesNow: async ({ settings }) =>
      (await import('../../config/load-config.js')).modesNow({ ...program.env }, settings.settings_file),
    staysOn: false,
  });
  try {
    await queue.advance();
  } finally {
    queue.dispose();
  }
}
