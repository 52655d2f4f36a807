// Which tools a server offers, and what it says of those that it does not.
import { lazyTool, type Tool } from '../mcp/tool.js';
import { insideTaskFault, type InsideAllowance } from '../tasks/task-refusals.js';
import { listings } from './listings.js';
import { toolLoaders, type BridgeTool } from './tool-loaders.js';
import { chosenToolsets, isOffered } from './toolsets.js';

/** The tools of the chosen toolsets, in the order of `tool-loaders.ts`; each is loaded with its first call. */
export function enabledTools(setting: 'all' | readonly string[]): readonly BridgeTool[] {
  const chosen = chosenToolsets(setting);
  return listings
    .filter(({ toolset, name }) => isOffered(name, toolset, chosen))
    .map((listed) => lazyTool(listed, () => loadTool(listed.name)));
}

async function loadTool(name: string): Promise<BridgeTool> {
  const load = toolLoaders[name];
  if (load === undefined) throw new Error(`${name} is in no row of tool-loaders.ts.`);
  return load();
}

/** Toolsets for a person at the chat or at the editor, whom a task does not have. */
const PERSONAL: ReadonlySet<string> = new Set(['board', 'terminal']);
/** It changes nothing but what other calls of this connection mean. */
const CHOOSES = 'set_active_project';

/** Whether the tool is offered by a server inside a task: with `look`, tools that only read. */
export function isOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): boolean {
  // It answers at once there, and a hook whose tool is missing shows an error.
  return tool.toolset === 'native' || (allows === 'look' && mayLook(tool));
}

/** Throws INSIDE_TASK for a tool that is not offered inside a task. */
export function requireOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): void {
  if (isOfferedInside(tool, allows)) return;
  throw insideTaskFault(
    `offer ${tool.name}`,
    mayLook(tool)
      ? 'The user may allow it: "inside_tasks": "look" in the settings.'
      : 'Use the tools of the session itself.',
  );
}

function mayLook<Services>(tool: Tool<Services>): boolean {
  const isReading = tool.listing.annotations.readOnlyHint || tool.name === CHOOSES;
  return isReading && !PERSONAL.has(tool.toolset);
}
