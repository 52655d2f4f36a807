import type { ToolApp } from './apps.js';
import type { Tool, ToolListing } from './tool.js';

/** What is known of a tool before it is loaded. */
export interface ListedTool<Toolset extends string> {
  readonly toolset: Toolset;
  readonly listing: ToolListing;
  readonly app?: ToolApp | undefined;
  readonly forHooks?: boolean | undefined;
}

/** A tool of which only the listing is there; the rest is loaded when it is first called. */
export function lazyTool<Services, Toolset extends string>(
  { toolset, listing, app, forHooks }: ListedTool<Toolset>,
  load: () => Promise<Tool<Services, Toolset>>,
): Tool<Services, Toolset> {
  let loaded: Tool<Services, Toolset> | undefined;
  return {
    name: listing.name,
    toolset,
    app,
    forHooks,
    listing: () => listing,
    run: async (args, services, call) => (loaded ??= await load()).run(args, services, call),
  };
}
