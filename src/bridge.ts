import { tmpdir } from 'node:os';
import { systemClock } from './base/clock.js';
import { DisposableStore, type Disposable } from './base/lifecycle.js';
import type { Logger } from './base/logger.js';
import { findInstallation } from './claude/installation.js';
import { commandWords } from './config/command-words.js';
import type { Config } from './config/schema.js';
import { stateDirectory } from './config/state-directory.js';
import { KeeperHost } from './keeper/keeper-host.js';
import type { ServerParts } from './mcp/server.js';
import { ActiveProject } from './projects/active-project.js';
import { AllowedRoots } from './projects/allowed-roots.js';
import { allResources } from './resources/registry.js';
import type { ResourceServices } from './resources/services.js';
import { openRuntimeDir } from './store/runtime-dir.js';
import { openStateDir } from './store/state-dir.js';
import { TaskManager } from './tasks/task-manager.js';
import { instructions } from './tools/instructions.js';
import { enabledTools } from './tools/registry.js';
import type { ToolServices } from './tools/services.js';

/** How long what a dead keeper left behind has between SIGTERM and SIGKILL. */
const LEFTOVER_GRACE_MS = 1_000;

export interface BridgeOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly version: string;
  readonly logger: Logger;
  /** The program that keeps one task. */
  readonly keeperEntry: string;
  /** Arguments for Node when it runs the keeper. */
  readonly nodeArguments?: readonly string[];
}

/** Everything that serves one client, and its end. */
export interface Bridge extends Disposable {
  readonly parts: ServerParts<ToolServices & ResourceServices>;
}

/** Builds every service once. Throws CONFIG_ERROR for unknown toolsets and STATE_UNUSABLE for the state directory. */
export async function createBridge(options: BridgeOptions): Promise<Bridge> {
  const { config, env, homeDir, logger, version } = options;
  const clock = systemClock;
  const owned = new DisposableStore();
  const tools = enabledTools(config.toolsets);
  const stateDir = await openStateDir({ path: stateDirectory(config, { env, homeDir }) });
  const runtimeDir = await openRuntimeDir({
    xdgRuntimeDir: env['XDG_RUNTIME_DIR'],
    tmpDir: tmpdir(),
    uid: process.getuid?.() ?? 0,
  });
  const roots = new AllowedRoots(config.allowed_roots, homeDir);
  const host = new KeeperHost({
    keeperEntry: options.keeperEntry,
    nodeArguments: options.nodeArguments ?? [],
    stateDir,
    runtimeDir,
    env,
  });
  const tasks = owned.add(
    new TaskManager({
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
      },
    }),
  );
  return {
    parts: {
      identity: { name: 'claude-code-bridge', version },
      instructions,
      tools,
      resources: allResources,
      services: { tasks, activeProject: new ActiveProject(roots), config },
      clock,
      logger,
      precondition: () => roots.requireSome(),
    },
    dispose: () => owned.dispose(),
  };
}
