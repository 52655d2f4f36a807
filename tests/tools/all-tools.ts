import { enabledTools } from '../../src/tools/registry.js';

/** Every tool there is, sorted by name. */
export const allTools = enabledTools('all');

/** Those that models call: no page alone, and no hook. */
export const toolsForModels = allTools.filter(({ caller }) => caller === undefined);
