// The settings that make one run of the CLI post its hooks to the bridge.
import { hookEventNames } from './hook-event.js';
import { runSettings, type RunSettings } from '../run-settings.js';
import { postingCommand } from './posting-command.js';

/** The environment variable of the bearer token; the CLI puts its value into the header. */
export const HOOK_TOKEN_VARIABLE = 'CLAUDE_CODE_BRIDGE_HOOK_TOKEN';

/** The CLI waits this long after the decision's deadline, so that the bridge's denial arrives before it gives up. */
const HOOK_GRACE_SECONDS = 60;

/** The value of `--settings`, for this run only. `decisionTimeoutSeconds`: how long a hook may wait for a decision. */
export function hookSettings(
  url: string,
  decisionTimeoutSeconds: number,
  settings: RunSettings = {},
): string {
  const timeout = Math.ceil(decisionTimeoutSeconds) + HOOK_GRACE_SECONDS;
  const hook =
    settings.sandbox === undefined
      ? {
          type: 'http',
          url,
          headers: { Authorization: `Bearer $${HOOK_TOKEN_VARIABLE}` },
          allowedEnvVars: [HOOK_TOKEN_VARIABLE],
          timeout,
        }
      : { type: 'command', command: postingCommand(url, HOOK_TOKEN_VARIABLE), timeout };
  const hooks = Object.fromEntries(hookEventNames.map((name) => [name, [{ hooks: [hook] }]]));
  return JSON.stringify({ hooks, ...runSettings(settings) });
}
