import type { ListedTool } from '../mcp/tool.js';
import { toolLoaders } from './tool-loaders.js';

/**
 * What clients see of every tool, sorted by name, with its row in `tool-loaders.ts`. The build replaces this module by its value
 * (scripts/build.mjs), so that a start loads no tool and builds no schema.
 */
export const listings: readonly (ListedTool & { readonly module: string })[] = (
  await Promise.all(
    Object.entries(toolLoaders).map(async ([module, load]) =>
      Object.values(await load()).map(({ name, listing, page, caller }) => ({
        name,
        module,
        listing,
        page,
        caller,
      })),
    ),
  )
)
  .flat()
  .sort((one, other) => (one.name < other.name ? -1 : 1));
