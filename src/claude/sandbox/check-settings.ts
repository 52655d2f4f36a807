import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { readSettingsFile } from '../../base/files/json-file.js';

/** What of Claude Code's settings lets commands leave a sandbox. */
const settingsSchema = z.looseObject({
  sandbox: z.looseObject({ excludedCommands: z.array(z.string()).optional() }).optional(),
});

const MANAGED_FILES = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
];

/**
 * Looks for commands that leave the sandbox despite the command line, since Claude Code merges the lists of all its settings. Those of the
 * project are not used. Throws SANDBOX_UNAVAILABLE, which names the file. `userFolder`: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
 */
export async function checkSettings(userFolder: string): Promise<void> {
  for (const file of [join(userFolder, 'settings.json'), ...MANAGED_FILES]) {
    const read = await readSettingsFile(file, settingsSchema);
    // Claude Code may still be able to read it.
    if (read.state === 'corrupt') throw widens(file, read.why);
    if (read.state === 'ok' && (read.value.sandbox?.excludedCommands ?? []).length > 0)
      throw widens(file, 'sandbox.excludedCommands');
  }
}

function widens(file: string, what: string): BridgeError {
  return new BridgeError(
    'SANDBOX_UNAVAILABLE',
    `The mode sandboxed was requested, but ${file} may let commands leave the sandbox: ${what}.`,
    'Remove it from that file, or use permission_mode "cautious".',
  );
}
