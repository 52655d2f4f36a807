import type { CopyTools, ProcessTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test starts no process');
};

/** Where a test needs the services and no processes. */
export const noProcesses: ProcessTools = {
  spawn: unused,
  input: unused,
  output: unused,
  list: unused,
  kill: unused,
};

/** Where a test needs the services and no containers. */
export const noCopies: CopyTools = { copyTo: unused, copyFrom: unused };
