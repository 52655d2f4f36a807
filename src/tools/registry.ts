// Which tools a server offers, and what it says of those that it does not.
import type { Tool } from '../mcp/tool.js';
import { insideTaskFault, type InsideAllowance } from '../tasks/task-refusals.js';
import { listings } from './listings.js';
import type { ToolServices } from './services.js';
import { toolLoaders } from './tool-loaders.js';
import { chosenToolsets, isOffered, toolsetNames, type Toolset } from './toolsets.js';

export interface BridgeTool extends Tool<ToolServices> {
  readonly toolset: Toolset;
}

/** The tools of the chosen toolsets, sorted by name; each is loaded with its first call. */
export function enabledTools(setting: 'all' | readonly string[]): readonly BridgeTool[] {
  const chosen = chosenToolsets(setting);
  return listings.flatMap(({ module, ...listed }): BridgeTool[] => {
    const toolset = toolsetNames.find((name) => module.startsWith(`${name}/`));
    if (toolset === undefined) throw new Error(`${module} is in the folder of no toolset.`);
    const run: BridgeTool['run'] = async (...call) => (await loaded(module, listed.name)).run(...call);
    return isOffered(listed.name, toolset, chosen) ? [{ ...listed, toolset, run }] : [];
  });
}

async function loaded(module: string, name: string): Promise<Tool<ToolServices>> {
  const tools = await toolLoaders[module]?.();
  const tool = Object.values(tools ?? {}).find((one) => one.name === name);
  if (tool === undefined) throw new Error(`${name} is in no module of tool-loaders.ts.`);
  return tool;
}

/** Toolsets for a person at the chat or at the editor, whom a task does not have. */
const PERSONAL: ReadonlySet<string> = new Set(['board', 'terminal']);
/** It changes nothing but what other calls of this connection mean. */
const CHOOSES = 'set_active_project';

/** Whether the tool is offered by a server inside a task: with `look`, tools that only read. */
export function isOfferedInside(tool: BridgeTool, allows: InsideAllowance): boolean {
  // It answers at once there, and a hook whose tool is missing shows an error.
  return tool.toolset === 'native' || (allows === 'look' && mayLook(tool));
}

/** Throws INSIDE_TASK for a tool that is not offered inside a task. */
export function requireOfferedInside(tool: BridgeTool, allows: InsideAllowance): void {
  if (isOfferedInside(tool, allows)) return;
  throw insideTaskFault(
    `offer ${tool.name}`,
    mayLook(tool)
      ? 'The user may allow it: "inside_tasks": "look" in the settings.'
      : 'Use the tools of the session itself.',
  );
}

function mayLook({ name, listing, toolset }: BridgeTool): boolean {
  return (listing.annotations.readOnlyHint || name === CHOOSES) && !PERSONAL.has(toolset);
}
