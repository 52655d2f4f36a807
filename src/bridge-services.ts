import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { systemClock } from './base/clock.js';
import { messageOf } from './base/errors.js';
import type { BridgeOptions } from './bridge.js';
import { findInstallation } from './claude/installation.js';
import { commandWords } from './config/command-words.js';
import { concurrentTasks } from './config/concurrent-tasks.js';
import { stateDirectory } from './config/state-directory.js';
import { ConversationManager } from './conversations/conversation-manager.js';
import { FilesystemService } from './files/filesystem-service.js';
import { ProjectExplorer } from './files/project-explorer.js';
import { gitEnvironment } from './git/git-environment.js';
import { GitService } from './git/git-service.js';
import { gitRunner } from './git/run-git.js';
import { claudeConfigDir } from './claude/transcript-files.js';
import { ReceiptGit } from './tasks/receipt-git.js';
import { ReceiptMaker } from './tasks/receipt-maker.js';
import { TaskReceipts } from './tasks/task-receipts.js';
import { ProjectSnapshots } from './git/project-snapshots.js';
import { joinRunningTasks } from './keeper/join-running-tasks.js';
import { Worktrees } from './git/worktrees.js';
import { KeeperHost } from './keeper/keeper-host.js';
import type { SweeperParts } from './keeper/sweeper.js';
import { ActiveProject } from './projects/active-project.js';
import type { AllowedRoots } from './projects/allowed-roots.js';
import { PathOpener } from './projects/path-opener.js';
import { openRuntimeDir } from './store/runtime-dir.js';
import { openStateDir } from './store/state-dir.js';
import { Delegation } from './tasks/delegation.js';
import { TaskFinisher } from './tasks/task-finisher.js';
import { TaskManager } from './tasks/task-manager.js';

/** How long what a dead keeper left behind has between SIGTERM and SIGKILL. */
const LEFTOVER_GRACE_MS = 1_000;

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

/** The services behind the tools, made when the first call needs them. */
export interface BridgeServices {
  readonly tasks: TaskManager;
  readonly finisher: TaskFinisher;
  readonly conversations: ConversationManager;
  readonly delegation: Delegation;
  readonly activeProject: ActiveProject;
  readonly git: GitService;
  readonly files: FilesystemService;
  readonly receipts: TaskReceipts;
  readonly explorer: ProjectExplorer;
}

/** Builds every service once. Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function createServices(options: BridgeOptions, roots: AllowedRoots): Promise<BridgeServices> {
  const { config, env, homeDir, logger } = options;
  const clock = systemClock;
  const stateDir = await openStateDir({ path: stateDirectory(config, { env, homeDir }) });
  const runtimeDir = await openRuntimeDir({
    xdgRuntimeDir: env['XDG_RUNTIME_DIR'],
    tmpDir: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
  const host = new KeeperHost({
    keeperEntry: options.keeperEntry,
    nodeArguments: options.nodeArguments ?? [],
    stateDir,
    runtimeDir,
    env,
  });
  const endMarked = async (mark: string): Promise<number> => {
    const { killTree } = await import('./pty/kill-ladder.js');
    return (await killTree({ pid: 0, mark, clock, graceMs: LEFTOVER_GRACE_MS })).ended.length;
  };
  const surroundings = { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
  const worktrees = new Worktrees({ roots, clock, runner: gitRunner(surroundings) });
  const tasks = new TaskManager({
    stateDir,
    host,
    clock,
    logger,
    roots,
    findInstallation: () =>
      findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir }),
    endMarked,
    worktrees,
    settings: {
      shell: config.shell,
      auto_approve_patterns: config.auto_approve_patterns,
      decision_timeout_seconds: config.decision_timeout_seconds,
      max_log_size_bytes: config.max_log_size_bytes,
      pass_environment: config.pass_environment,
      ...(config.on_disconnect === 'stop' && {
        stop_without_server_seconds: config.on_disconnect_grace_seconds,
      }),
      allowed_roots: [...roots.roots],
      rules: config.rules,
      default_timeout_seconds: config.default_timeout_seconds,
      max_concurrent_tasks: concurrentTasks(config.max_concurrent_tasks, {
        cores: availableParallelism(),
        memoryBytes: totalmem(),
      }),
      task_history_size: config.task_history_size,
      conversation_history_size: config.conversation_history_size,
    },
  });
  if (config.on_disconnect === 'stop') void joinRunningTasks({ tasks, host, logger });
  void sweepLeftovers({ stateDir, runtimeDir, clock, logger, tasks, endMarked });
  const activeProject = new ActiveProject(roots);
  const conversations = new ConversationManager({
    tasks,
    project: activeProject,
    clock,
    skipPermissions: config.conversation_skip_permissions,
  });
  const delegation = new Delegation({
    tasks,
    project: activeProject,
    maxRunning: config.delegate_max_running,
    timeoutSeconds: config.delegate_timeout_seconds,
  });
  const git = new GitService({
    roots,
    activeProject,
    clock,
    runner: gitRunner(surroundings),
    maxDiffBytes: config.max_diff_size_bytes,
  });
  const finisher = new TaskFinisher({ stateDir, clock, tasks, worktrees });
  const receipts = new TaskReceipts({
    stateDir,
    clock,
    logger,
    maker: new ReceiptMaker({
      stateDir,
      clock,
      logger,
      git: new ReceiptGit(
        stateDir,
        async () => new ProjectSnapshots({ roots, runner: gitRunner(surroundings), clock }),
      ),
      claudeConfigDir: claudeConfigDir(env),
    }),
  });
  const opener = new PathOpener(roots);
  const files = new FilesystemService({
    roots,
    opener,
    activeProject,
    clock,
    headerLines: config.default_header_lines,
    allowProtectedWrites: config.allow_protected_writes,
    newFileMode: NEW_FILE_MODE & ~process.umask(),
  });
  const explorer = new ProjectExplorer({
    opener,
    roots,
    activeProject,
    gitEnvironment: () => gitEnvironment(surroundings, {}, []),
    defaultDepth: config.default_tree_depth,
  });
  return { tasks, finisher, conversations, delegation, activeProject, git, files, receipts, explorer };
}

/** Beside the first call, which does not wait for it: what keepers left that were killed while no server ran. */
async function sweepLeftovers(
  parts: Pick<SweeperParts, 'stateDir' | 'runtimeDir' | 'clock' | 'logger' | 'endMarked'> & {
    readonly tasks: TaskManager;
  },
): Promise<void> {
  const { tasks, ...rest } = parts;
  try {
    const [{ sweep }, { runningMarks }] = await Promise.all([
      import('./keeper/sweeper.js'),
      import('./pty/list-marks.js'),
    ]);
    await sweep({ ...rest, settle: (taskId) => tasks.get(taskId), running: runningMarks });
  } catch (fault) {
    parts.logger.warn('what dead keepers left could not be swept', { fault: messageOf(fault) });
  }
}
