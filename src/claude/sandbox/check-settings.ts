import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { MAX_SETTINGS_BYTES, readRegularFile } from '../../base/files/regular-file.js';

/** What of Claude Code's settings lets commands leave a sandbox. */
const settingsSchema = z.looseObject({
  sandbox: z.looseObject({ excludedCommands: z.array(z.string()).optional() }).optional(),
});
type Settings = z.infer<typeof settingsSchema>;

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
    const settings = await settingsIn(file);
    if ((settings?.sandbox?.excludedCommands ?? []).length > 0)
      throw widens(file, 'sandbox.excludedCommands');
  }
}

/** Undefined without a file. An unreadable file is refused, as Claude Code may still be able to read it. */
async function settingsIn(file: string): Promise<Settings | undefined> {
  const read = await readRegularFile(file, MAX_SETTINGS_BYTES);
  if (read.state === 'missing') return undefined;
  if (read.state === 'refused') throw widens(file, read.why);
  // Without a byte order mark.
  const text = read.bytes.toString('utf8').trim();
  // A sandbox that is killed leaves empty files behind.
  if (text === '') return undefined;
  try {
    const parsed = settingsSchema.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw widens(file, 'it cannot be read as settings');
}

function widens(file: string, what: string): BridgeError {
  return new BridgeError(
    'SANDBOX_UNAVAILABLE',
    `The mode sandboxed was requested, but ${file} may let commands leave the sandbox: ${what}.`,
    'Remove it from that file, or use permission_mode "cautious".',
  );
}
