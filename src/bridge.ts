import { systemClock } from './base/clock.js';
import { messageOf } from './base/errors.js';
import { DisposableStore, type Disposable } from './base/lifecycle.js';
import type { Logger } from './base/logger.js';
import type { BridgeServices } from './bridge-services.js';
import type { Config } from './config/schema.js';
import { stateDirectory } from './config/state-directory.js';
import { lazyFilesystemService } from './files/lazy-filesystem-service.js';
import { lazyGitService } from './git/lazy-git-service.js';
import type { ServerParts } from './mcp/server.js';
import { AllowedRoots } from './projects/allowed-roots.js';
import { allPrompts } from './prompts/registry.js';
import type { PromptServices } from './prompts/services.js';
import { allResources } from './resources/registry.js';
import type { ResourceServices } from './resources/services.js';
import { lazyTaskService } from './tasks/lazy-task-service.js';
import { instructions } from './tools/instructions.js';
import { enabledTools } from './tools/registry.js';
import type { ToolServices } from './tools/services.js';

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

/** A client's first words are answered before anything else is begun. */
const JOIN_DELAY_MS = 500;

/** Everything that serves one client, and its end. */
export interface Bridge extends Disposable {
  readonly parts: ServerParts<ToolServices & ResourceServices & PromptServices>;
}

/**
 * What a server needs to answer `initialize` and `tools/list`; the services behind the tools are loaded and built by the
 * first call. Throws CONFIG_ERROR for unknown toolsets.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const { config, logger, version } = options;
  const owned = new DisposableStore();
  const roots = new AllowedRoots(config.allowed_roots, options.homeDir);
  let building: Promise<BridgeServices> | undefined;
  const services = (): Promise<BridgeServices> => {
    building ??= build(options, roots, owned).catch((fault: unknown) => {
      // The next call tries again: a full or missing disk may be mended meanwhile.
      building = undefined;
      throw fault;
    });
    return building;
  };
  // Tasks that end without a server, and those that wait in the queue, must not wait for this one's first call.
  owned.add(
    systemClock.after(JOIN_DELAY_MS, () => {
      joinTasks(options, services).catch((fault: unknown) =>
        logger.warn('Running and queued tasks could not be joined', { fault: messageOf(fault) }),
      );
    }),
  );
  return {
    parts: {
      identity: { name: 'claude-code-bridge', version },
      instructions,
      tools: enabledTools(config.toolsets),
      resources: allResources,
      prompts: allPrompts,
      services: {
        tasks: lazyTaskService(async () => (await services()).tasks),
        activeProject: { set: async (path) => (await services()).activeProject.set(path) },
        git: lazyGitService(async () => (await services()).git),
        files: lazyFilesystemService(async () => (await services()).files),
        finisher: { finish: async (query) => (await services()).finisher.finish(query) },
        receipts: {
          receiptOf: async (record, signal) => (await services()).receipts.receiptOf(record, signal),
        },
        explorer: {
          list: async (query, signal) => (await services()).explorer.list(query, signal),
          tree: async (query, signal) => (await services()).explorer.tree(query, signal),
          search: async (query, signal) => (await services()).explorer.search(query, signal),
        },
        conversations: {
          ask: async (question) => (await services()).conversations.ask(question),
          answer: async (taskId, wait) => (await services()).conversations.answer(taskId, wait),
          status: async (taskId) => (await services()).conversations.status(taskId),
          recent: async (limit) => (await services()).conversations.recent(limit),
          cancel: async (taskId, reason) => (await services()).conversations.cancel(taskId, reason),
        },
        delegation: {
          delegate: async (prompt, path) => (await services()).delegation.delegate(prompt, path),
          task: async (uuid) => (await services()).delegation.task(uuid),
          logs: async (uuid, tail) => (await services()).delegation.logs(uuid, tail),
          cancel: async (uuid, reason) => (await services()).delegation.cancel(uuid, reason),
        },
        config,
      },
      clock: systemClock,
      logger,
      precondition: () => roots.requireSome(),
    },
    dispose: () => owned.dispose(),
  };
}

/** Loads the services for what needs them without being called; a server with nothing to do stays small. */
async function joinTasks(options: BridgeOptions, services: () => Promise<BridgeServices>): Promise<void> {
  const { queueWaits } = await import('./tasks/queue-waits.js');
  const waits = await queueWaits(stateDirectory(options.config, options));
  if (!waits && options.config.on_disconnect !== 'stop') return;
  await (await services()).tasks.advanceQueue();
}

async function build(
  options: BridgeOptions,
  roots: AllowedRoots,
  owned: DisposableStore,
): Promise<BridgeServices> {
  const { createServices } = await import('./bridge-services.js');
  const services = await createServices(options, roots);
  owned.add(services.tasks);
  return services;
}
