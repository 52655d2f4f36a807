import { toolLoaders, type BridgeTool } from '../../src/tools/tool-loaders.js';

/** Every tool there is, loaded, sorted by name. */
export const allTools: readonly BridgeTool[] = await Promise.all(
  Object.values(toolLoaders).map((load) => load()),
);
