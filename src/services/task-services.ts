import { availableParallelism, totalmem } from 'node:os';
import { messageOf } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { Emitter, DisposableStore, type Disposable } from '../base/lifecycle.js';
import { systemClock } from '../base/system-clock.js';
import { findInstallation } from '../claude/installation.js';
import { commandWords } from '../config/command-words.js';
import { concurrentTasks } from '../config/concurrent-tasks.js';
import { modesNow } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { modeSettings } from '../config/permission-modes.js';
import { defaultSettingsPath } from '../config/places.js';
import { KeeperHost } from '../keeper/host/keeper-host.js';
import { announceServer } from '../keeper/host/servers-there.js';
import { sweep } from '../keeper/host/sweeper.js';
import { openNotices } from '../keeper/notices/open-notices.js';
import type { EndMarked } from '../os/choose-processes.js';
import { runningMarks } from '../os/find-processes.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { TaskGuard } from '../tasks/task-refusals.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { Decision, TaskRecord } from '../tasks/task.js';
import { TaskFinisher } from '../tasks/task-finisher.js';
import { TaskManager, type TaskManagerOptions } from '../tasks/task-manager.js';
import { engineSettings } from './engine-settings.js';
import { gitServices, type GitServices } from './git-services.js';
import { endMarked, keeperProgram, openState, type BridgeOptions, type OpenState } from './open-state.js';

/** With `on_disconnect` "stop": how long a task goes on without a server. A client restarts within it. */
const DISCONNECT_GRACE_SECONDS = 30;

const clock = systemClock;

export interface TaskServices extends OpenState, Disposable {
  readonly git: GitServices;
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
  const state = await openState(options);
  const { stateDir } = state;
  const owned = new DisposableStore();
  const git = gitServices(options, roots);
  const command = commandWords(config.claude_command);
  const notify = (record: TaskRecord, late?: Decision): void =>
    void sendNotice(record, late, options, state, owned).catch((error: unknown) =>
      logger.warn('A notice of a task could not be sent', {
        task_id: record.task_id,
        error: messageOf(error),
      }),
    );
  const endWithContainers: EndMarked = async (mark, startedSince) => {
    // A container ends with its keeper, and is removed by it.
    if (config.task_container.image !== null) await sweepTaskContainers(options, stateDir.path);
    return endMarked(mark, startedSince);
  };
  const tasks = new TaskManager({
    stateDir,
    host: new KeeperHost(keeperProgram(options, state)),
    clock,
    logger,
    logsTasks: true,
    roots,
    findInstallation: () => findInstallation(command, { path: env['PATH'] ?? '', homeDir }),
    containers: { ...config.task_container, engine: engineSettings(options), command },
    endMarked: endWithContainers,
    onRecovered: (record) => notify(record),
    worktrees: git.worktrees,
    settings: taskSettings(options, await roots.realRoots()),
    modesNow: ({ settings }) => modesNow({ ...env }, settings.settings_file),
    history: config,
    guard,
  });
  if (config.on_disconnect === 'stop') owned.add(await announceServer(stateDir.path));
  const { worktrees, undo } = git;
  const finisher = new TaskFinisher({ stateDir, clock, logger, tasks, worktrees, undo });
  const sweepLeftovers = async (): Promise<void> => {
    try {
      const settle = (taskId: string) => tasks.get(taskId);
      const shared = { ...state, clock, logger, endMarked: endWithContainers };
      await sweep({ ...shared, settle, running: runningMarks });
    } catch (error) {
      logger.warn('what dead keepers left could not be swept', { error: messageOf(error) });
    }
  };
  const dispose = (): void => {
    owned.dispose();
    tasks.dispose();
  };
  return { ...state, git, tasks, finisher, notifyLate: notify, sweepLeftovers, dispose };
}

/**
 * Sends the notice of an end that a keeper could not send, since it was killed, or that an answer to `late` changed nothing; by the
 * settings that the task was started with.
 */
async function sendNotice(
  record: TaskRecord,
  late: Decision | undefined,
  { env, logger }: BridgeOptions,
  { stateDir }: OpenState,
  owned: DisposableStore,
): Promise<void> {
  const spec = await readJsonFile(stateDir.specFile(record.task_id), taskSpecSchema);
  const settings = spec.state === 'ok' ? spec.value.settings.notify : undefined;
  if (settings === undefined) return;
  const task = { record, onDidChange: new Emitter<TaskRecord>().event };
  const notices = owned.add(openNotices({ task, settings, env, clock, logger }));
  await notices.finish(late);
  notices.dispose();
}

/** The current settings, which are stored with a task. */
function taskSettings(options: BridgeOptions, realRoots: readonly string[]): TaskManagerOptions['settings'] {
  const { config, settingsFile, homeDir, origins = {}, command } = options;
  const projects = Object.entries(config.projects);
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  return {
    shell: config.shell,
    auto_approve_patterns: config.auto_approve_patterns,
    decision_timeout_seconds: config.decision_timeout_seconds,
    max_log_size_bytes: config.max_log_size_bytes,
    pass_environment: config.pass_environment,
    sandbox_domains: config.sandbox_domains,
    resume_after_limit: config.resume_after_limit,
    rules: config.rules,
    default_timeout_seconds: config.default_timeout_seconds,
    task_budget: config.task_budget,
    day_budget: config.day_budget,
    max_concurrent_tasks: concurrentTasks(config.max_concurrent_tasks, machine),
    ...(config.on_disconnect === 'stop' && { stop_without_server_seconds: DISCONNECT_GRACE_SECONDS }),
    allowed_roots: [...realRoots],
    own_places: ownPlaces(config, options),
    trusted: Object.fromEntries(
      projects.flatMap(([path, { trust }]) => (trust === undefined ? [] : [[path, trust]])),
    ),
    without_own_hooks: projects.flatMap(([path, { own_hooks }]) => (own_hooks === false ? [path] : [])),
    ...((config.notify.desktop || config.notify.url !== null) && { notify: config.notify }),
    ...(typeof settingsFile === 'string' &&
      settingsFile !== defaultSettingsPath(homeDir) && { settings_file: settingsFile }),
    ...(command !== undefined && { own_command: command }),
    ...(origins.rules !== undefined && { rules_from: origins.rules }),
    modes: modeSettings(config, origins),
    project_checks: Object.fromEntries(
      projects.flatMap(([path, { checks }]) => (checks === undefined ? [] : [[path, checks]])),
    ),
  };
}

async function sweepTaskContainers(options: BridgeOptions, statePath: string): Promise<void> {
  const [{ DockerEngine }, { containerOwnerId, sweepContainers }] = await Promise.all([
    import('../processes/docker/engine.js'),
    import('../processes/docker/leftovers.js'),
  ]);
  const engine = new DockerEngine({ settings: engineSettings(options), clock });
  await sweepContainers({
    engine,
    owner: { id: containerOwnerId(statePath), keeper: await ownIdentity() },
    logger: options.logger,
    keeperState: (keeper) => ownerState(keeper, statePath),
  });
  engine.dispose();
}
