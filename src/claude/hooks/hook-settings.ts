// The settings that make one run of the CLI post its hooks to the bridge.
import { hookEventNames } from './hook-event.js';
import { runSettings, type RunSettings } from '../launch.js';
import { postingCommand } from './posted-hooks.js';

/** The environment variable of the bearer token; the CLI puts its value into the header. */
export const HOOK_TOKEN_VARIABLE = 'CLAUDE_CODE_BRIDGE_HOOK_TOKEN';

/** The address of the hooks server, for a program that posts instead of a hook that runs a command. */
export const HOOK_URL_VARIABLE = 'CLAUDE_CODE_BRIDGE_HOOK_URL';

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

export interface HookSettings extends RunSettings {
  /** How long a hook may wait for a decision. */
  readonly decisionTimeoutSeconds: number;
  /** What a hook runs where the CLI cannot reach the hooks server; left out, the CLI posts it. */
  readonly hookCommand?: string | undefined;
}

/** The value of `--settings`, for this run only. `statusCommand`: what the status line runs; it must print nothing. */
export function hookSettings(url: string, settings: HookSettings, statusCommand = 'true'): string {
  const timeout = Math.ceil(settings.decisionTimeoutSeconds) + HOOK_GRACE_SECONDS;
  const inSandbox = settings.sandbox === undefined ? undefined : postingCommand(url, HOOK_TOKEN_VARIABLE);
  const command = settings.hookCommand ?? inSandbox;
  const hook =
    command === undefined
      ? {
          type: 'http',
          url,
          headers: { Authorization: `Bearer $${HOOK_TOKEN_VARIABLE}` },
          allowedEnvVars: [HOOK_TOKEN_VARIABLE],
          timeout,
        }
      : { type: 'command', command, timeout };
  const hooks = Object.fromEntries(hookEventNames.map((name) => [name, [{ hooks: [hook] }]]));
  const statusLine = { type: 'command', command: statusCommand };
  return JSON.stringify({ hooks, ...TERMINAL_SETTINGS, statusLine, ...runSettings(settings) });
}
