import type { ToolServices } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test has no such service');
};

/** For tests of tools that use few services: every other one fails the call. */
export const unusedServices: ToolServices = {
  tasks: unused,
  finisher: unused,
  receipts: unused,
  verifications: unused,
  changes: unused,
  activeProject: { set: async (path) => path, absolute: async (path = '/app') => path },
  git: unused,
  files: unused,
  explorer: unused,
  conversations: unused,
  delegation: unused,
  processes: unused,
  copies: unused,
  board: unused,
  terminals: unused,
  native: unused,
};
