import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { BridgeError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/system-clock.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import {
  type KeptLaunch,
  type ProcessKeepers,
  processUnreachable,
  type RunningProcess,
} from '../../processes/process-handle.js';
import { type ProcessRecord, processRecordSchema } from '../../processes/process-record.js';
import { ProcessStore } from '../../processes/process-store.js';
import { killTree } from '../../pty/kill-ladder.js';
import { ProjectLocks, type Lock } from '../../store/project-lock.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import { TaskQueue } from '../../tasks/queue/task-queue.js';
import { taskRecordSchema, type TaskRecord } from '../../tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../../tasks/task-host.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { findForTask } from '../agent/recognise-program.js';
import { openSocket } from '../wire/link.js';
import type { ProcessLaunch, TaskLaunch } from '../wire/launch-input.js';
import { KeeperClient } from './keeper-client.js';
import { KeptProcess } from './kept-process.js';
import { launchKeeper, READY_LIMIT_MS, type KeeperProgram } from './launch-keeper.js';

/** An engine that is busy takes up to a minute to start a container. */
const CONTAINER_LIMIT_MS = 60_000;

/** Runs each task, and each process with `keep`, in a keeper process of its own, which outlives this one. */
export class KeeperHost implements TaskHost {
  readonly #program: KeeperProgram;
  readonly #stateDir: StateDir;
  readonly #runtimeDir: RuntimeDir;
  readonly #processes: ProcessStore;

  constructor(program: KeeperProgram) {
    this.#program = program;
    this.#stateDir = new StateDir(program.statePath);
    this.#runtimeDir = new RuntimeDir(program.runtimePath);
    this.#processes = new ProcessStore(program.statePath);
  }

  connect({
    task_id,
    socket_path = this.#runtimeDir.socketPath(task_id),
  }: KeptTaskName): Promise<TaskLink | undefined> {
    return KeeperClient.connect(task_id, socket_path);
  }

  async launch(spec: TaskSpec, lease?: Lock): Promise<TaskRecord> {
    const { task_id: taskId } = spec;
    const log = this.#stateDir.keeperLog(taskId);
    // A server inside a task has that task's mark. What it starts from the queue may belong to others.
    const program = { ...this.#program, env: { ...this.#program.env, [MARK_VARIABLE]: undefined } };
    const input: TaskLaunch = { spec, ...(await findForTask(spec, program)) };
    return launchKeeper(program, {
      id: taskId,
      input,
      handOver: async (owner) => ({ lease: await lease?.handTo(owner) }),
      log,
      record: taskRecordSchema,
      failure: (why) =>
        new BridgeError(
          'TASK_START_FAILED',
          `The keeper process of ${taskId} could not be started: ${why}.`,
          `See ${log} and the server log.`,
        ),
    }).catch(async (error: unknown) => {
      // A keeper that died while it started could not remove it.
      await rm(this.#runtimeDir.socketPath(taskId), { force: true });
      throw error;
    });
  }

  /** Keeps processes as the settings say. */
  keepers(settings: Omit<ProcessLaunch, 'record' | 'spec'>): ProcessKeepers {
    return { keep: (launch) => this.#keep(launch, settings), reach: (record) => this.#reach(record) };
  }

  async #keep({ onKeeper, ...launch }: KeptLaunch, settings: object): Promise<RunningProcess> {
    const { process_id: id, mode, socket_path: path } = launch.record;
    const record = await launchKeeper(this.#program, {
      id,
      input: { ...launch, ...settings },
      ...(onKeeper !== undefined && {
        handOver: async (keeper) => {
          await onKeeper(keeper);
          return {};
        },
      }),
      limitMs: READY_LIMIT_MS + (mode === 'docker' ? CONTAINER_LIMIT_MS : 0),
      record: processRecordSchema,
      failure: (why) =>
        new BridgeError(
          'SPAWN_FAILED',
          `The keeper of the process could not be started: ${why}.`,
          'Try again.',
        ),
    }).catch(async (error: unknown) => {
      if (path !== null) await rm(path, { force: true });
      throw error;
    });
    const running = await this.#reach(record);
    if (running !== undefined) return running;
    // A keeper that no longer listens has written the end.
    const latest = await this.#processes.read(id);
    if (latest?.status === 'terminated')
      return new KeptProcess(new Socket().destroy(), latest, () => Promise.resolve(latest));
    throw processUnreachable(id, 'it was started, but its keeper does not accept connections');
  }

  async #reach(record: ProcessRecord): Promise<RunningProcess | undefined> {
    const { socket_path: path, process_id: id } = record;
    if (path === null) return undefined;
    const socket = await openSocket(path, (why) => new Error(why)).catch(() => undefined);
    return socket && new KeptProcess(socket, record, () => this.#processes.read(id));
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
