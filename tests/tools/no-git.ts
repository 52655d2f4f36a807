import type { GitTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test uses no git');
};

/** Where a test needs the services and none of git. */
export const noGit: GitTools = {
  status: unused,
  diffStat: unused,
  diff: unused,
  log: unused,
  show: unused,
  init: unused,
};
