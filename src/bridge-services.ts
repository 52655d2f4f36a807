import { tmpdir } from 'node:os';
import { systemClock } from './base/clock.js';
import type { BridgeOptions } from './bridge.js';
import { findInstallation } from './claude/installation.js';
import { commandWords } from './config/command-words.js';
import { stateDirectory } from './config/state-directory.js';
import { ConversationManager } from './conversations/conversation-manager.js';
import { FilesystemService } from './files/filesystem-service.js';
import { ProjectExplorer } from './files/project-explorer.js';
import { gitEnvironment } from './git/git-environment.js';
import { GitService } from './git/git-service.js';
import { gitRunner } from './git/run-git.js';
import { KeeperHost } from './keeper/keeper-host.js';
import { ActiveProject } from './projects/active-project.js';
import type { AllowedRoots } from './projects/allowed-roots.js';
import { PathOpener } from './projects/path-opener.js';
import { openRuntimeDir } from './store/runtime-dir.js';
import { openStateDir } from './store/state-dir.js';
import { TaskManager } from './tasks/task-manager.js';

/** How long what a dead keeper left behind has between SIGTERM and SIGKILL. */
const LEFTOVER_GRACE_MS = 1_000;

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

/** The services behind the tools, made when the first call needs them. */
export interface BridgeServices {
  readonly tasks: TaskManager;
  readonly conversations: ConversationManager;
  readonly activeProject: ActiveProject;
  readonly git: GitService;
  readonly files: FilesystemService;
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
  const tasks = new TaskManager({
    stateDir,
    host,
    clock,
    logger,
    roots,
    findInstallation: () =>
      findInstallation(commandWords(config.claude_command), { path: env['PATH'] ?? '', homeDir }),
    endMarked: async (mark) => {
      const { killTree } = await import('./pty/kill-ladder.js');
      return (await killTree({ pid: 0, mark, clock, graceMs: LEFTOVER_GRACE_MS })).ended.length;
    },
    settings: {
      shell: config.shell,
      auto_approve_patterns: config.auto_approve_patterns,
      decision_timeout_seconds: config.decision_timeout_seconds,
      max_log_size_bytes: config.max_log_size_bytes,
      pass_environment: config.pass_environment,
      default_timeout_seconds: config.default_timeout_seconds,
      task_history_size: config.task_history_size,
      conversation_history_size: config.conversation_history_size,
    },
  });
  const activeProject = new ActiveProject(roots);
  const conversations = new ConversationManager({
    tasks,
    project: activeProject,
    clock,
    skipPermissions: config.conversation_skip_permissions,
  });
  const surroundings = { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
  const git = new GitService({
    roots,
    activeProject,
    clock,
    runner: gitRunner(surroundings),
    maxDiffBytes: config.max_diff_size_bytes,
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
  return { tasks, conversations, activeProject, git, files, explorer };
}
