import type { ToolServices } from '../../src/tools/services.js';

/** Where a test needs the services and none that finishes tasks. */
export const noFinisher: ToolServices['finisher'] = {
  finish: async () => {
    throw new Error('this test finishes no task');
  },
};
