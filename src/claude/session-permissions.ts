// Pure: the permissions that an answer grants beyond its request.
import type { SessionAllowance } from './session.js';

/** The mode after a plan. A yes for the session grants none: what Claude Code suggests is wider than what was asked, and the bridge remembers it. */
export function grantedPermissions({ mode }: SessionAllowance): Record<string, unknown>[] {
  return mode === undefined ? [] : [{ type: 'setMode', mode, destination: 'session' }];
}
