import { lazyTool } from '../mcp/tool.js';
import { listings } from './listings.js';
import { toolLoaders, type BridgeTool } from './tool-loaders.js';
import { chosenToolsets, isOffered } from './toolsets.js';

/** The tools of the chosen toolsets, in the order of `tool-loaders.ts`; each is loaded with its first call. */
export function enabledTools(setting: 'all' | readonly string[]): readonly BridgeTool[] {
  const chosen = chosenToolsets(setting);
  return listings
    .filter(({ toolset, listing }) => isOffered(listing.name, toolset, chosen))
    .map((listed) => lazyTool(listed, () => loadTool(listed.listing.name)));
}

async function loadTool(name: string): Promise<BridgeTool> {
  const load = toolLoaders[name];
  if (load === undefined) throw new Error(`${name} is in no row of tool-loaders.ts.`);
  return load();
}
