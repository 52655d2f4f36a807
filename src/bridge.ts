import { byTool, doctorSentence, isForDoctor, nextWords } from './base/errors.js';
import { lazily } from './base/lifecycle.js';
import { systemClock } from './base/system-clock.js';
import { ownPlaces } from './config/own-places.js';
import { modeSettings, modeWords } from './config/permission-modes.js';
import { ClientFolders } from './mcp/client-folders.js';
import type { ServerParts } from './mcp/server.js';
import type { ClientInfo } from './mcp/client.js';
import { AllowedRoots } from './projects/allowed-roots.js';
import { allPrompts } from './prompts/registry.js';
import type { PromptServices } from './prompts/define-prompt.js';
import { offeredResources } from './resources/offered-resources.js';
import { allResources } from './resources/registry.js';
import type { BridgeOptions } from './services/open-state.js';
import { isMarked, ServerServices } from './services/server-services.js';
import { followWords, insideInstructions, instructionsFor } from './tools/instructions.js';
import { listings } from './tools/listings.js';
import { enabledTools, isOfferedInside, requireOfferedInside } from './tools/registry.js';

/** A bridge. */
const ICON = {
  src: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#c15f3c" d="M0 13V9a8 6 0 0 1 16 0v4h-3a5 4 0 0 0-10 0z"/></svg>')}`,
  mimeType: 'image/svg+xml',
  sizes: ['any'],
};

/** Each task has a log and a record among the resources. */
const TASK_STARTERS: ReadonlySet<string> = new Set(['start_task', 'DelegateTask', 'ask', 'ask_async']);

type Parts = ServerParts<ServerServices['offered'] & PromptServices>;

/** Everything that serves one client, and its end. */
export interface Bridge {
  readonly parts: Parts;
  /** The same for a bridge on another machine. Throws STATE_UNUSABLE. */
  far(): Promise<Parts>;
  /** Ends every process that should not outlive the server; tasks go on. */
  dispose(): Promise<void>;
}

/** What a server needs to answer `initialize` and `tools/list`. */
export async function createBridge(options: BridgeOptions): Promise<Bridge> {
  const { config, logger, version, unusable } = options;
  const roots = new AllowedRoots(
    config.allowed_roots,
    options.homeDir,
    ownPlaces(config, options),
    options.command,
  );
  const clientFolders = new ClientFolders();
  const marked = isMarked(options.env);
  let client: ClientInfo | undefined;
  const services = new ServerServices(
    options,
    roots,
    { cwd: options.cwd, clientFolders: () => clientFolders.list() },
    () => client,
  );
  // A task reaches no other machine by way of the bridge.
  const machines = marked ? [] : Object.keys(config.machines);
  const enabled = enabledTools(config.toolsets);
  const tools = machines.length === 0 ? enabled : await services.toolsOf(enabled);
  const offers = (tool: string): boolean => tools.some(({ name }) => name === tool);
  if (unusable === undefined) services.joinSoon();
  // Claude Code inside a task also has this server when the user configured it globally; it must cost no tokens there.
  const isSilent = marked && config.inside_tasks === 'off';
  // Each prompt starts or follows a task.
  const prompts = isSilent || !offers('start_task') ? [] : allPrompts;
  const allowed = marked ? tools.filter((tool) => isOfferedInside(tool, config.inside_tasks)) : tools;
  // A page in the chat reads the board; without it no tool has a page.
  const hasPages = allowed.some(({ name }) => name === 'board_read');
  const offered = hasPages ? allowed : allowed.map((tool) => ({ ...tool, page: undefined }));
  const names = {
    offered: new Set(offered.map(({ name }) => name)),
    all: listings.map(({ name }) => name),
  };
  const resources = isSilent
    ? []
    : offeredResources(allResources, names).filter(({ isApp }) => hasPages || isApp !== true);
  const parts: Parts = {
    identity: { name: 'claude-code-bridge', title: 'Claude Code Bridge', version, icons: [ICON] },
    instructions: isSilent
      ? insideInstructions
      : instructionsFor(config.toolsets, modeWords(modeSettings(config, options.origins ?? {})), machines),
    tools: offered,
    resources,
    prompts,
    unusable,
    clientFolders,
    onClient: (known) => void (client = known),
    showsForms: !marked && config.client.forms,
    answers: config.client.answers,
    services: { ...services.offered, offers },
    hintOf: ({ next, code }) => {
      const doctor = isForDoctor(code) ? [doctorSentence(options.command ?? 'claude-code-bridge')] : [];
      return nextWords([...next, ...doctor], (step) => byTool(step, offers));
    },
    resourceMakers: TASK_STARTERS,
    ...(!isSilent &&
      unusable === undefined && {
        followed: {
          tasks: lazily(async () => {
            const { followedTasks } = await import('./tools/tasks/followed-tasks.js');
            return followedTasks(
              services.offered.tasks,
              logger,
              () => systemClock.now(),
              (task, late) => services.notifyLate(task, late),
            );
          }),
          ...followWords,
        },
      }),
    clock: systemClock,
    logger,
    precondition: async (name) => {
      const tool = tools.find((one) => one.name === name);
      // A hook gets an answer and never an error.
      if (tool === undefined || tool.toolset === 'native') return;
      if (unusable !== undefined) throw unusable;
      // A machine has roots of its own, and a path here needs some in any case.
      if (machines.length === 0) roots.requireSome();
      if ((await services.marks()).length > 0) requireOfferedInside(tool, config.inside_tasks);
      services.sweepSoon();
    },
  };
  return {
    parts,
    far: async () => (await import('./services/far-end.js')).farEnd(parts, services, options),
    dispose: () => services.dispose(),
  };
}
