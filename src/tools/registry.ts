import { lazyTool } from '../mcp/lazy-tool.js';
import type { Tool } from '../mcp/tool.js';
import listings from './listings.json' with { type: 'json' };
import type { ToolServices } from './services.js';
import { chosenToolsets, isToolset, type Toolset } from './toolsets.js';

export type BridgeTool = Tool<ToolServices, Toolset>;

/**
 * The tools of the chosen toolsets, in the order of `tool-list.ts`. What clients see of them is read from the generated
 * listings.json; the tools themselves are loaded with the first call: half of a start would go into schemas otherwise.
 * Throws CONFIG_ERROR for a toolset that does not exist.
 */
export function enabledTools(setting: 'all' | readonly string[]): readonly BridgeTool[] {
  const chosen = chosenToolsets(setting);
  return listings.flatMap(({ toolset, listing }) =>
    isToolset(toolset) && chosen.has(toolset)
      ? [lazyTool(toolset, listing, () => loadTool(listing.name))]
      : [],
  );
}

async function loadTool(name: string): Promise<BridgeTool> {
  const { allTools } = await import('./tool-list.js');
  const tool = allTools.find((one) => one.name === name);
  if (tool === undefined)
    throw new Error(`listings.json names ${name}, which is no tool; renew it with: npm run docs`);
  return tool;
}
