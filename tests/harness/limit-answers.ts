import type { ScriptedTurn } from '../../src/cli/demo/scripted-api.js';

/** Not a secret: the scripted API takes any token. With it the CLI takes itself for one with a subscription, which has limits. */
export const SUBSCRIBER = {
  withKey: false,
  env: { CLAUDE_CODE_OAUTH_TOKEN: `sk-ant-oat01-${'a'.repeat(40)}` },
};

/** The API refuses because what the account has for five hours or a week is used up; with the headers that it sends then. */
export function limitReached(
  resetsAtMs: number,
  claim: 'five_hour' | 'seven_day' = 'five_hour',
): ScriptedTurn {
  const reset = String(Math.floor(resetsAtMs / 1_000));
  return {
    error: {
      status: 429,
      type: 'rate_limit_error',
      message: "This request would exceed your account's rate limit. Please try again later.",
      headers: {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': reset,
        'anthropic-ratelimit-unified-representative-claim': claim,
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': reset,
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
        'anthropic-ratelimit-unified-overage-status': 'rejected',
        'anthropic-ratelimit-unified-overage-disabled-reason': 'org_level_disabled',
        'x-should-retry': 'false',
      },
    },
  };
}
