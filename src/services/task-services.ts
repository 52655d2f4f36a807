import { existsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { systemClock } from '../base/system-clock.js';
import { messageOf } from '../base/errors.js';
import { lazily } from '../base/lazily.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { concurrentTasks } from '../config/concurrent-tasks.js';
import { ownPlaces } from '../config/own-places.js';
import { modeSettings } from '../config/permission-modes.js';
import { KeeperHost } from '../keeper/host/keeper-host.js';
import type { SweeperParts } from '../keeper/host/sweeper.js';
import { TaskJoiner } from '../keeper/host/task-joiner.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { EngineSettings } from '../processes/docker/engine/engine-address.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import type { OtherSessions } from '../tasks/other-sessions.js';
import { TaskFinisher } from '../tasks/task-finisher.js';
import { TaskManager, type TaskManagerOptions } from '../tasks/task-manager.js';
import { logTasks } from '../tasks/watch/log-tasks.js';
import { chosenToolsets } from '../tools/toolsets.js';
import { engineSettings } from './engine-settings.js';
import { openState } from './open-state.js';
import type { BridgeOptions } from './options.js';
import { RecoveredNotices } from './recovered-notices.js';

/** The time between SIGTERM and SIGKILL for what a dead keeper left behind. */
const LEFTOVER_GRACE_MS = 1_000;
/** With `on_disconnect` "stop": how long a task goes on without a server. A client restarts within it. */
const DISCONNECT_GRACE_SECONDS = 30;

export interface TaskServices extends Disposable {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly tasks: TaskManager;
  readonly finisher: TaskFinisher;
  /** Ends and removes what was left by keepers that were killed while no server ran; an error is logged. */
  readonly sweepLeftovers: () => Promise<void>;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function createTaskServices(options: BridgeOptions, roots: AllowedRoots): Promise<TaskServices> {
  const { config, env, homeDir, logger } = options;
  const clock = systemClock;
  const { stateDir, runtimeDir, heartbeat } = await openState(options);
  const host = new KeeperHost({
    keeperEntry: options.keeperEntry,
    nodeArguments: options.nodeArguments ?? [],
    stateDir,
    runtimeDir,
    env,
    logLevel: config.log_level,
  });
  const endMarked = endMarkedFor(options);
  const worktrees = lazily(async () => {
    const { createWorktrees } = await import('./worktree-service.js');
    return createWorktrees(options, roots);
  });
  const notices = new RecoveredNotices({ stateDir, env, clock, logger });
  const tasks = new TaskManager({
    stateDir,
    host,
    clock,
    logger,
    roots,
    findInstallation: () =>
      findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir }),
    containers: taskContainers(options),
    endMarked,
    onRecovered: (record) => notices.send(record),
    worktrees: {
      create: async (project, taskId, signal) => (await worktrees()).create(project, taskId, signal),
      removeUnlessWork: async (worktree) => (await worktrees()).removeUnlessWork(worktree),
    },
    settings: taskSettings(options, await roots.realRoots()),
    others: listsSessions(options) ? laterSessions(options, roots, stateDir) : undefined,
  });
  const joiner =
    config.on_disconnect === 'stop' ? joinTasks(options, { stateDir, runtimeDir, host }) : undefined;
  const finisher = new TaskFinisher({
    stateDir,
    clock,
    logger,
    tasks,
    worktrees: {
      finish: async (worktree, query, signal) => (await worktrees()).finish(worktree, query, signal),
    },
  });
  const owned = new DisposableStore();
  owned.add(notices);
  owned.add(logTasks(tasks, logger));
  return {
    stateDir,
    runtimeDir,
    tasks,
    finisher,
    sweepLeftovers: () =>
      sweepLeftovers({ stateDir, runtimeDir, clock, logger, tasks, endMarked }, (delayMs, act) =>
        owned.add(clock.after(delayMs, act)),
      ),
    dispose: () => {
      owned.dispose();
      joiner?.dispose();
      tasks.dispose();
      host.dispose();
      heartbeat.dispose();
    },
  };
}

function listsSessions(options: BridgeOptions): boolean {
  return options.listsSessions === true || chosenToolsets(options.config.toolsets).has('native');
}

/** Loaded with the first list. */
function laterSessions(options: BridgeOptions, roots: AllowedRoots, stateDir: StateDir): OtherSessions {
  const sessions = lazily(async () =>
    (await import('./other-sessions.js')).otherSessions(options, roots, stateDir),
  );
  return { records: async (known, patience) => (await sessions()).records(known, patience) };
}

/** Ends all processes, and containers, that have a task's mark. */
function endMarkedFor(options: BridgeOptions): EndMarked {
  return async (mark, startedSince) => {
    const { killTree } = await import('../pty/kill-ladder.js');
    // A container ends with its keeper, except one whose keeper died before the container started.
    if (options.config.task_container.image !== null) await sweepContainers(engineSettings(options), mark);
    return (await killTree({ mark, startedSince, clock: systemClock, graceMs: LEFTOVER_GRACE_MS })).ended
      .length;
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
  const { config } = options;
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
    ...(isNotifying(config) && { notify: config.notify }),
    ...(options.command !== undefined && { own_command: options.command }),
    ...(options.origins?.rules !== undefined && { rules_from: options.origins.rules }),
    modes: modeSettings(config, options.origins ?? {}),
    default_timeout_seconds: config.default_timeout_seconds,
    max_concurrent_tasks: concurrentTasks(config.max_concurrent_tasks, {
      cores: availableParallelism(),
      memoryBytes: totalmem(),
    }),
    task_history_size: config.task_history_size,
  };
}

function isNotifying({ notify: { desktop, url } }: BridgeOptions['config']): boolean {
  return desktop || url !== null;
}

function joinTasks(
  { logger }: BridgeOptions,
  parts: { readonly stateDir: StateDir; readonly runtimeDir: RuntimeDir; readonly host: KeeperHost },
): TaskJoiner {
  return new TaskJoiner({
    clock: systemClock,
    logger,
    // The folder of the sockets may be shared with other state folders, whose tasks are not known here.
    tasks: async () =>
      (await parts.runtimeDir.tasks()).filter(({ task_id }) =>
        existsSync(parts.stateDir.recordFile(task_id)),
      ),
    stay: (task) => parts.host.stay(task),
    graceSeconds: DISCONNECT_GRACE_SECONDS,
  });
}

async function sweepContainers(settings: EngineSettings, mark: string): Promise<void> {
  const [{ DockerEngine }, { sweepTaskContainers }] = await Promise.all([
    import('../processes/docker/engine/docker-engine.js'),
    import('../processes/docker/task-container/sweep-task-containers.js'),
  ]);
  const engine = new DockerEngine({ settings, clock: systemClock });
  await sweepTaskContainers(engine, mark);
  engine.dispose();
}

/** Sweeps what was left by keepers that were killed while no server ran. */
async function sweepLeftovers(
  parts: Pick<SweeperParts, 'stateDir' | 'runtimeDir' | 'clock' | 'logger' | 'endMarked'> & {
    readonly tasks: TaskManager;
  },
  later: (delayMs: number, act: () => void) => void,
): Promise<void> {
  const { tasks, ...rest } = parts;
  const failed = (error: unknown): void =>
    parts.logger.warn('what dead keepers left could not be swept', { error: messageOf(error) });
  try {
    const [{ STALE_FOLDER_MS, sweep, sweepFolders }, { runningMarks }] = await Promise.all([
      import('../keeper/host/sweeper.js'),
      import('../os/running-marks.js'),
    ]);
    const running = runningMarks;
    const { doubtful } = await sweep({ ...rest, settle: (taskId) => tasks.get(taskId), running });
    if (doubtful.size > 0)
      later(STALE_FOLDER_MS, () => void sweepFolders(doubtful, { ...parts, running }).catch(failed));
  } catch (error) {
    failed(error);
  }
}
