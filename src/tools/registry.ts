import { lazyTool } from '../mcp/lazy-tool.js';
import listings from './listings.json' with { type: 'json' };
import { toolLoaders, type BridgeTool } from './tool-loaders.js';
import { chosenToolsets, isToolset } from './toolsets.js';

/**
 * The tools of the chosen toolsets, in the order of `tool-loaders.ts`. What clients see of them is read from the generated
 * listings.json; each tool itself is loaded with its first call: half of a start would go into schemas otherwise.
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
  const load = toolLoaders[name];
  if (load === undefined)
    throw new Error(`listings.json names ${name}, which is no tool; renew it with: npm run docs`);
  return load();
}
