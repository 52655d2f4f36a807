import { toolLoaders, type BridgeTool } from './tool-loaders.js';

/** Every tool there is, loaded, sorted by name: for the generated documents and the tests; the server loads each when called. */
export const allTools: readonly BridgeTool[] = await Promise.all(
  Object.values(toolLoaders).map((load) => load()),
);
