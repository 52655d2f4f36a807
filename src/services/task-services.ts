import { availableParallelism, totalmem } from 'node:os';
import { systemClock } from '../base/system-clock.js';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { Emitter, lazily, DisposableStore, type Disposable } from '../base/lifecycle.js';
import { readJsonFile } from '../base/files/json-file.js';
import type { Logger } from '../base/logger.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { concurrentTasks } from '../config/concurrent-tasks.js';
import { modesNow } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { modeSettings } from '../config/permission-modes.js';
import { defaultSettingsPath } from '../config/places.js';
import { KeeperHost } from '../keeper/host/keeper-host.js';
import { announceServer } from '../keeper/host/servers-there.js';
import type { SweeperParts } from '../keeper/host/sweeper.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskGuard } from '../tasks/inside-task.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { Decision, TaskRecord } from '../tasks/task.js';
import { TaskFinisher } from '../tasks/task-finisher.js';
import { TaskManager, type TaskManagerOptions } from '../tasks/task-manager.js';
import { logTasks } from '../tasks/watch/log-tasks.js';
import { engineSettings } from './engine-settings.js';
import { endMarked, openState, type BridgeOptions } from './open-state.js';

/** With `on_disconnect` "stop": how long a task goes on without a server. A client restarts within it. */
const DISCONNECT_GRACE_SECONDS = 30;

export interface TaskServices extends Disposable {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly tasks: TaskManager;
  readonly finisher: TaskFinisher;
  /** Sends a notice that no keeper sends: that an answer to `late` changed nothing. Returns at once; what cannot be sent is logged. */
  readonly notifyLate: (record: TaskRecord, late: Decision) => void;
  /** Ends and removes what was left by keepers that were killed while no server ran; an error is logged. */
  readonly sweepLeftovers: () => Promise<void>;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function createTaskServices(
  options: BridgeOptions,
  roots: AllowedRoots,
  guard?: TaskGuard,
): Promise<TaskServices> {
  const { config, env, homeDir, logger } = options;
  const clock = systemClock;
  const { stateDir, runtimeDir } = await openState(options);
  const host = new KeeperHost({
    keeperEntry: options.keeperEntry,
    nodeArguments: options.nodeArguments ?? [],
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    env,
    logLevel: config.log_level,
  });
  const endWithContainers = endMarkedFor(options, stateDir.path);
  const worktrees = lazily(async () => {
    const { createWorktrees } = await import('./git-services.js');
    return createWorktrees(options, roots);
  });
  const owned = new DisposableStore();
  const noticeParts = { stateDir, env, clock, logger, owned };
  const tasks = new TaskManager({
    stateDir,
    host,
    clock,
    logger,
    roots,
    findInstallation: () =>
      findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir }),
    containers: taskContainers(options),
    endMarked: endWithContainers,
    onRecovered: (record) => void sendNotice(record, undefined, noticeParts),
    worktrees: {
      create: async (project, name, signal) => (await worktrees()).create(project, name, signal),
      removeUnlessWork: async (worktree) => (await worktrees()).removeUnlessWork(worktree),
    },
    settings: taskSettings(options, await roots.realRoots()),
    modesNow: ({ settings }) => modesNow({ ...env }, settings.settings_file),
    history: config,
    guard,
  });
  owned.add(logTasks(tasks, logger));
  if (config.on_disconnect === 'stop') owned.add(await announceServer(stateDir.path));
  const finisher = new TaskFinisher({
    stateDir,
    clock,
    logger,
    tasks,
    worktrees: {
      finish: async (worktree, query, signal) => (await worktrees()).finish(worktree, query, signal),
    },
    undo: async (query) => (await import('./git-services.js')).undo(options, roots, query),
  });
  return {
    stateDir,
    runtimeDir,
    tasks,
    finisher,
    notifyLate: (record, late) => void sendNotice(record, late, noticeParts),
    sweepLeftovers: () =>
      sweepLeftovers({ stateDir, runtimeDir, clock, logger, endMarked: endWithContainers }, tasks),
    dispose: () => {
      owned.dispose();
      tasks.dispose();
    },
  };
}

/**
 * Sends the notice of an end that a keeper could not send, since it was killed, or that an answer to `late` changed nothing; by the
 * settings that the task was started with. What cannot be sent is logged.
 */
async function sendNotice(
  record: TaskRecord,
  late: Decision | undefined,
  parts: {
    readonly stateDir: StateDir;
    readonly env: BridgeOptions['env'];
    readonly clock: Clock;
    readonly logger: Logger;
    readonly owned: DisposableStore;
  },
): Promise<void> {
  const { task_id } = record;
  try {
    const spec = await readJsonFile(parts.stateDir.specFile(task_id), taskSpecSchema);
    const settings = spec.state === 'ok' ? spec.value.settings.notify : undefined;
    if (settings === undefined) return;
    const { openNotices } = await import('../keeper/notices/open-notices.js');
    const task = { record, onDidChange: new Emitter<TaskRecord>().event };
    const notices = parts.owned.add(openNotices({ ...parts, task, settings }));
    await notices.finish(late);
    notices.dispose();
  } catch (error) {
    const message = 'A notice of a task could not be sent';
    parts.logger.warn(message, { task_id, error: messageOf(error) });
  }
}

/** Ends all processes, and containers, that have a task's mark. */
function endMarkedFor(options: BridgeOptions, statePath: string): EndMarked {
  return async (mark, startedSince) => {
    // A container ends with its keeper, and is removed by it.
    if (options.config.task_container.image !== null) await sweepTaskContainers(options, statePath);
    return endMarked(mark, startedSince);
  };
}

function taskContainers(options: BridgeOptions): TaskManagerOptions['containers'] {
  return {
    ...options.config.task_container,
    engine: engineSettings(options),
    command: commandWords(options.config.claude_command),
  };
}

/** The current settings, which are stored with a task. */
function taskSettings(options: BridgeOptions, realRoots: readonly string[]): TaskManagerOptions['settings'] {
  const { config, settingsFile, homeDir } = options;
  return {
    shell: config.shell,
    auto_approve_patterns: config.auto_approve_patterns,
    decision_timeout_seconds: config.decision_timeout_seconds,
    max_log_size_bytes: config.max_log_size_bytes,
    pass_environment: config.pass_environment,
    sandbox_domains: config.sandbox_domains,
    ...(config.on_disconnect === 'stop' && { stop_without_server_seconds: DISCONNECT_GRACE_SECONDS }),
    allowed_roots: [...realRoots],
    own_places: ownPlaces(config, options),
    resume_after_limit: config.resume_after_limit,
    rules: config.rules,
    trusted: Object.fromEntries(
      Object.entries(config.projects).flatMap(([path, { trust }]) =>
        trust === undefined ? [] : [[path, trust]],
      ),
    ),
    without_own_hooks: Object.keys(config.projects).filter(
      (path) => config.projects[path]?.own_hooks === false,
    ),
    ...((config.notify.desktop || config.notify.url !== null) && { notify: config.notify }),
    ...(typeof settingsFile === 'string' &&
      settingsFile !== defaultSettingsPath(homeDir) && { settings_file: settingsFile }),
    ...(options.command !== undefined && { own_command: options.command }),
    ...(options.origins?.rules !== undefined && { rules_from: options.origins.rules }),
    modes: modeSettings(config, options.origins ?? {}),
    default_timeout_seconds: config.default_timeout_seconds,
    task_budget: config.task_budget,
    day_budget: config.day_budget,
    max_concurrent_tasks: concurrentTasks(config.max_concurrent_tasks, {
      cores: availableParallelism(),
      memoryBytes: totalmem(),
    }),
  };
}

async function sweepTaskContainers(options: BridgeOptions, statePath: string): Promise<void> {
  const [{ DockerEngine }, { containerOwnerId, sweepContainers }] = await Promise.all([
    import('../processes/docker/engine/docker-engine.js'),
    import('../processes/docker/leftover-containers.js'),
  ]);
  const clock = systemClock;
  const engine = new DockerEngine({ settings: engineSettings(options), clock });
  await sweepContainers({
    engine,
    owner: { id: containerOwnerId(statePath), keeper: await ownIdentity() },
    logger: options.logger,
    keeperState: (keeper) => ownerState(keeper, statePath),
  });
  engine.dispose();
}

/** Sweeps what was left by keepers that were killed while no server ran. */
async function sweepLeftovers(
  parts: Omit<SweeperParts, 'settle' | 'running'>,
  tasks: TaskManager,
): Promise<void> {
  try {
    const [{ sweep }, { runningMarks }] = await Promise.all([
      import('../keeper/host/sweeper.js'),
      import('../os/find-processes.js'),
    ]);
    await sweep({ ...parts, settle: (taskId) => tasks.get(taskId), running: runningMarks });
  } catch (error) {
    parts.logger.warn('what dead keepers left could not be swept', { error: messageOf(error) });
  }
}
