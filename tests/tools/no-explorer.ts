import type { ExplorerTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test uses no folders');
};

/** Where a test needs the services and none of folders. */
export const noExplorer: ExplorerTools = { list: unused, names: unused, tree: unused, search: unused };
