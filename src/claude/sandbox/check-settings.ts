import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';

const MAX_SETTINGS_BYTES = 1024 * 1024;
const texts = z.array(z.string());
/** The settings of Claude Code that widen a sandbox. */
const settingsSchema = z.looseObject({
  permissions: z.looseObject({ allow: texts.optional() }).optional(),
  sandbox: z
    .looseObject({
      excludedCommands: texts.optional(),
      filesystem: z.looseObject({ allowWrite: texts.optional(), allowRead: texts.optional() }).optional(),
    })
    .optional(),
});
type Settings = z.infer<typeof settingsSchema>;

const PROJECT_FILES = ['.claude/settings.json', '.claude/settings.local.json'];
const MANAGED_FILES = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
];

export interface SettingsPlaces {
  readonly projectPath: string;
  /** The folder of the user's settings: `CLAUDE_CONFIG_DIR`, else `~/.claude`. */
  readonly userFolder: string;
}

/**
 * Looks for settings that widen the sandbox despite the command line: Claude Code merges the lists of all its settings, and 2.1.197
 * uses some project settings that it was told to ignore. Throws SANDBOX_UNAVAILABLE, which names them.
 */
export async function checkSettings({ projectPath, userFolder }: SettingsPlaces): Promise<void> {
  for (const name of PROJECT_FILES) {
    const file = join(projectPath, name);
    const settings = await settingsIn(file);
    const widened = settings === undefined ? undefined : widenedBy(settings);
    if (widened !== undefined) throw widens(file, widened);
  }
  for (const file of [join(userFolder, 'settings.json'), ...MANAGED_FILES]) {
    const settings = await settingsIn(file);
    if ((settings?.sandbox?.excludedCommands ?? []).length > 0)
      throw widens(file, 'sandbox.excludedCommands');
  }
}

function widenedBy({ permissions, sandbox }: Settings): string | undefined {
  const { allowWrite = [], allowRead = [] } = sandbox?.filesystem ?? {};
  if (allowWrite.length > 0) return 'sandbox.filesystem.allowWrite';
  if (allowRead.length > 0) return 'sandbox.filesystem.allowRead';
  const edit = permissions?.allow?.find((rule) => EDITS_ELSEWHERE.test(rule));
  return edit === undefined ? undefined : `permissions.allow ${edit}`;
}

/** An edit rule that begins at the root or in the home directory, or goes up. */
const EDITS_ELSEWHERE = /^(Edit|Write|MultiEdit|NotebookEdit)\((\/\/|~|.*\.\.)/;

/** Undefined without a file. An unreadable file is refused, as Claude Code may still be able to read it. */
async function settingsIn(file: string): Promise<Settings | undefined> {
  const read = await readRegularFile(file, MAX_SETTINGS_BYTES);
  if (read.state === 'missing') return undefined;
  if (read.state === 'refused') throw widens(file, read.why);
  const text = read.bytes.toString('utf8');
  // A sandbox that is killed leaves empty files behind.
  if (text.trim() === '') return undefined;
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
