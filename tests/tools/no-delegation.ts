import type { DelegationTools } from '../../src/tools/services.js';

const unused = async (): Promise<never> => {
  throw new Error('this test delegates nothing');
};

/** Where a test needs the services and no delegation. */
export const noDelegation: DelegationTools = { delegate: unused, task: unused, logs: unused, cancel: unused };
