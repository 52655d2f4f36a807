import type { Tool, ToolListing } from './tool.js';

/** A tool of which only the listing is there; the rest is loaded when it is first called. */
export function lazyTool<Services, Toolset extends string>(
  toolset: Toolset,
  listing: ToolListing,
  load: () => Promise<Tool<Services, Toolset>>,
): Tool<Services, Toolset> {
  let loaded: Tool<Services, Toolset> | undefined;
  return {
    name: listing.name,
    toolset,
    listing: () => listing,
    run: async (args, services, call) => (loaded ??= await load()).run(args, services, call),
  };
}
