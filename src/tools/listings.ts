import type { ListedTool } from '../mcp/tool.js';
import { toolLoaders } from './tool-loaders.js';
import type { Toolset } from './toolsets.js';

/**
 * What clients see of every tool, sorted as in `tool-loaders.ts`. The build replaces this module by its value
 * (scripts/build.mjs), so that a start loads no tool and builds no schema.
 */
export const listings: readonly ListedTool<Toolset>[] = await Promise.all(
  Object.values(toolLoaders).map(async (load) => {
    const { name, toolset, listing, app, forHooks } = await load();
    return { name, toolset, listing, app, forHooks };
  }),
);
