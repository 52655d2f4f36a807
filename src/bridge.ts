import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from './base/clock.js';
import { messageOf } from './base/errors.js';
import { lazily } from './base/lazily.js';
import { DisposableStore } from './base/lifecycle.js';
import type { Logger } from './base/logger.js';
import { ownPlaces } from './config/own-places.js';
import type { Config } from './config/schema.js';
import { stateDirectory } from './config/state-directory.js';
import { lazyFilesystemService } from './files/lazy-filesystem-service.js';
import { lazyGitService } from './git/lazy-git-service.js';
import type { ServerParts } from './mcp/server.js';
import { MARK_VARIABLE } from './os/mark-variable.js';
import { ActiveProject } from './projects/active-project.js';
import { AllowedRoots } from './projects/allowed-roots.js';
import { allPrompts } from './prompts/registry.js';
import type { PromptServices } from './prompts/services.js';
import { allResources } from './resources/registry.js';
import type { ResourceServices } from './resources/services.js';
import type { ProcessServices } from './services/process-services.js';
import type { TaskServices } from './services/task-services.js';
import { InsideTask } from './tasks/inside-task.js';
import { lazyTaskService } from './tasks/lazy-task-service.js';
import { insideInstructions, instructions } from './tools/instructions.js';
import { isOfferedInside, requireOfferedInside } from './tools/offered-inside.js';
import { enabledTools } from './tools/registry.js';
import type { ToolServices } from './tools/services.js';

export interface BridgeOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The settings file that was read. */
  readonly settingsFile?: string | null;
  readonly version: string;
  readonly logger: Logger;
  /** The program that keeps one task. */
  readonly keeperEntry: string;
  /** Arguments for Node when it runs the keeper. */
  readonly nodeArguments?: readonly string[];
}

/** A client's first words are answered before anything else is begun. */
const JOIN_DELAY_MS = 500;

/** The call that needed the tasks is answered before leftovers of others are looked for. */
const SWEEP_DELAY_MS = 1_000;

/** Everything that serves one client, and its end. */
export interface Bridge {
  readonly parts: ServerParts<ToolServices & ResourceServices & PromptServices>;
  /** Ends the processes that are not to be kept; tasks go on. */
  dispose(): Promise<void>;
}

/**
 * What a server needs to answer `initialize` and `tools/list`; each service behind the tools is loaded and built by
 * the first call that needs it. Throws CONFIG_ERROR for unknown toolsets.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const { config, logger, version } = options;
  const owned = new DisposableStore();
  const roots = new AllowedRoots(config.allowed_roots, options.homeDir, ownPlaces(config, options));
  const activeProject = new ActiveProject(roots);
  const taskServices = lazily(async () => {
    const { createTaskServices } = await import('./services/task-services.js');
    const made = await createTaskServices(options, roots);
    owned.add(made);
    return made;
  });
  let sweeps = false;
  const sweepSoon = (): void => {
    if (sweeps) return;
    sweeps = true;
    const sweep = async (): Promise<void> => {
      await (await taskServices()).sweepLeftovers();
      if (existsSync(join(stateDirectory(config, options), 'processes'))) await (await processes()).sweep();
    };
    owned.add(
      systemClock.after(SWEEP_DELAY_MS, () => {
        sweep().catch((fault: unknown) =>
          logger.warn('what dead keepers left could not be swept', { fault: messageOf(fault) }),
        );
      }),
    );
  };
  const isMarked = (options.env[MARK_VARIABLE] ?? '') !== '';
  const marks = lazily(async () => (await import('./os/marks-around.js')).findMarksAround(options.env));
  const insideTask = lazily(
    async () =>
      new InsideTask({
        tasks: (await taskServices()).tasks,
        allows: config.inside_tasks,
        marks,
        isMarked,
      }),
  );
  const receipts = lazily(async () => {
    const { createReceiptService } = await import('./services/receipt-service.js');
    return createReceiptService(options, roots, (await taskServices()).stateDir);
  });
  const talks = lazily(async () => {
    const { createConversationServices } = await import('./services/conversation-services.js');
    return createConversationServices(config, await insideTask(), activeProject);
  });
  let processServices: ProcessServices | undefined;
  const processes = lazily(async () => {
    const { createProcessServices } = await import('./services/process-services.js');
    return (processServices = await createProcessServices(options, roots, activeProject));
  });
  const files = lazily(async () => {
    const { createFileService } = await import('./services/file-service.js');
    return createFileService(config, roots, activeProject);
  });
  const explorer = lazily(async () => {
    const { createExplorerService } = await import('./services/explorer-service.js');
    return createExplorerService(options, roots, activeProject);
  });
  const git = lazily(async () => {
    const { createGitService } = await import('./services/git-service.js');
    return createGitService(options, roots, activeProject);
  });
  // Tasks that end without a server, and those that wait in the queue, must not wait for this one's first call.
  owned.add(
    systemClock.after(JOIN_DELAY_MS, () => {
      joinTasks(options, taskServices).catch((fault: unknown) =>
        logger.warn('Running and queued tasks could not be joined', { fault: messageOf(fault) }),
      );
    }),
  );
  const tools = enabledTools(config.toolsets);
  // Claude Code inside a task has this server, too, when its user has it everywhere: there it costs no tokens.
  const isSilent = isMarked && config.inside_tasks === 'off';
  return {
    parts: {
      identity: { name: 'claude-code-bridge', version },
      instructions: isSilent ? insideInstructions : instructions,
      tools: isMarked ? tools.filter((tool) => isOfferedInside(tool, config.inside_tasks)) : tools,
      resources: isSilent ? [] : allResources,
      prompts: isSilent ? [] : allPrompts,
      showsForms: !isMarked,
      services: {
        tasks: lazyTaskService(insideTask),
        activeProject: activeProject,
        git: lazyGitService(git),
        files: lazyFilesystemService(files),
        finisher: {
          finish: async (query) => {
            await (await insideTask()).requireOwn(query.taskId);
            return (await taskServices()).finisher.finish(query);
          },
        },
        receipts: {
          receiptOf: async (record, signal) => (await receipts()).receiptOf(record, signal),
        },
        explorer: {
          list: async (query, signal) => (await explorer()).list(query, signal),
          names: async (query, signal) => (await explorer()).names(query, signal),
          tree: async (query, signal) => (await explorer()).tree(query, signal),
          search: async (query, signal) => (await explorer()).search(query, signal),
        },
        conversations: {
          ask: async (question) => (await talks()).conversations.ask(question),
          answer: async (taskId, wait) => (await talks()).conversations.answer(taskId, wait),
          status: async (taskId) => (await talks()).conversations.status(taskId),
          recent: async (limit) => (await talks()).conversations.recent(limit),
          cancel: async (taskId, reason) => (await talks()).conversations.cancel(taskId, reason),
        },
        delegation: {
          delegate: async (prompt, path) => (await talks()).delegation.delegate(prompt, path),
          task: async (uuid) => (await talks()).delegation.task(uuid),
          logs: async (uuid, tail) => (await talks()).delegation.logs(uuid, tail),
          cancel: async (uuid, reason) => (await talks()).delegation.cancel(uuid, reason),
        },
        processes: {
          spawn: async (wish, limitMs, signal) => (await processes()).processes.spawn(wish, limitMs, signal),
          input: async (query, signal) => (await processes()).processes.input(query, signal),
          output: async (query, signal) => (await processes()).processes.output(query, signal),
          list: async (recent) => (await processes()).processes.list(recent),
          kill: async (id, signal) => (await processes()).processes.kill(id, signal),
        },
        copies: {
          copyTo: async (request) => (await processes()).copies().then((copies) => copies.copyTo(request)),
          copyFrom: async (request) =>
            (await processes()).copies().then((copies) => copies.copyFrom(request)),
        },
        config,
      },
      clock: systemClock,
      logger,
      precondition: async (tool) => {
        roots.requireSome();
        if ((await marks()).length > 0) requireOfferedInside(tool, config.inside_tasks);
        sweepSoon();
      },
    },
    dispose: async () => {
      owned.dispose();
      await processServices?.dispose();
    },
  };
}

/** Loads the services for what needs them without being called; a server with nothing to do stays small. */
async function joinTasks(options: BridgeOptions, services: () => Promise<TaskServices>): Promise<void> {
  const { queueWaits } = await import('./tasks/queue-waits.js');
  const waits = await queueWaits(stateDirectory(options.config, options));
  if (!waits && options.config.on_disconnect !== 'stop') return;
  await (await services()).tasks.advanceQueue();
}
