import { BridgeError } from '../../base/errors.js';
import { checkSandbox } from '../../claude/sandbox/check-sandbox.js';
import { ok, type Check } from '../check.js';

export const sandbox: Check = {
  id: 'sandbox',
  category: 'optional',
  limitMs: 12_000,
  look: async ({ platform, taskEnvironment }) => {
    try {
      await checkSandbox({ platform, env: await taskEnvironment() });
      return ok(`permission_mode "sandboxed" works here`);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      const what = error.message.replace(
        /^The mode sandboxed was requested, but no sandbox is available here\. /,
        '',
      );
      const command = /sudo [^(,]*[^(,. ]/.exec(error.hint)?.[0];
      return {
        status: 'optional',
        summary: `permission_mode "sandboxed" does not work here; the other modes do. ${what}`,
        remedy: { words: error.hint, ...(command !== undefined && { command }) },
      };
    }
  },
};
