import { BridgeError } from '../../base/errors.js';
import { compareVersions, type Installation } from '../../claude/installation.js';

/** Older versions have `--bg`, but their sessions do not get the address and the key of the API from who starts them. */
const OLDEST_BACKGROUND_VERSION = '2.1.330';

/**
 * Throws BridgeError CLAUDE_TOO_OLD, or TASK_START_FAILED for a program that has no background sessions. `version`: undefined for a
 * program that does not print the version of Claude Code.
 */
export function checkBackgroundAgent({ isClaude }: Installation, version: string | undefined): void {
  if (!isClaude || version === undefined) {
    throw new BridgeError(
      'TASK_START_FAILED',
      "driver is 'background', but the setting claude_command names a program that is not Claude Code.",
      'Leave driver out, or ask the user to set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  }
  if (compareVersions(version, OLDEST_BACKGROUND_VERSION) >= 0) return;
  throw new BridgeError(
    'CLAUDE_TOO_OLD',
    `The driver background needs Claude Code ${OLDEST_BACKGROUND_VERSION} or newer; this is ${version}.`,
    'Update it (claude update, or npm install -g @anthropic-ai/claude-code), or leave driver out.',
  );
}
