// The settings that make one run of the CLI post its hooks to the bridge.
import { hookEventNames } from './hook-event.js';
import { runSettings, type RunSettings } from '../launch.js';
import { postingCommand } from './posting-command.js';

/** The environment variable of the bearer token; the CLI puts its value into the header. */
export const HOOK_TOKEN_VARIABLE = 'CLAUDE_CODE_BRIDGE_HOOK_TOKEN';

/**
 * A terminal as the bridge reads it: the classic renderer, no lines of a person's own below the input box, and no offers of another
 * renderer or mode over it (2.1.330, 2.1.332).
 */
const TERMINAL_SETTINGS = {
  tui: 'default',
  disableAutoMode: 'disable',
};

/** The CLI waits this long after the decision's deadline, so that the bridge's denial arrives before it gives up. */
const HOOK_GRACE_SECONDS = 60;

/**
 * The value of `--settings`, for this run only. `decisionTimeoutSeconds`: how long a hook may wait for a decision. `statusCommand`: what
 * the status line runs; it must print nothing.
 */
export function hookSettings(
  url: string,
  decisionTimeoutSeconds: number,
  settings: RunSettings = {},
  statusCommand = 'true',
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
  const statusLine = { type: 'command', command: statusCommand };
  return JSON.stringify({ hooks, ...TERMINAL_SETTINGS, statusLine, ...runSettings(settings) });
}
