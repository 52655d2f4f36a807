// What a person's own settings of Claude Code, and those of an administrator, do in a task.
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { readSettingsFile } from '../base/files/json-file.js';
import { oneLine } from '../base/text.js';

/** Files with which an administrator sets rules for Claude Code, on Linux and macOS; beside each may be a folder of such files. */
const managedFiles: readonly string[] = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
];

/** These files and folders. */
export const managedSettingsPlaces: readonly string[] = managedFiles.flatMap((file) => [
  file,
  file.replace(/\.json$/, '.d'),
]);

const MAX_COMMAND_CHARS = 80;
const hookSchema = z.looseObject({ command: z.string().optional(), url: z.string().optional() });
const groupsSchema = z.array(z.looseObject({ hooks: z.array(hookSchema).default([]) }));
const settingsSchema = z.looseObject({
  /** What lets commands leave a sandbox. */
  sandbox: z.looseObject({ excludedCommands: z.array(z.string()).optional() }).optional(),
  hooks: z.record(z.string(), groupsSchema.catch([])).optional().catch(undefined),
  enabledPlugins: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/**
 * What a person's own settings run at events of each session, as `event: command`, and the plugins that they enable, whose hooks run, too. A
 * formatter or linter among them loads what the project configures, outside of any sandbox. None for settings that are missing or that Claude Code cannot read either.
 */
export async function ownHooks(configDir: string): Promise<string[]> {
  const read = await readSettingsFile(join(configDir, 'settings.json'), settingsSchema);
  if (read.state !== 'ok') return [];
  const settings = read.value;
  const plugins = Object.entries(settings.enabledPlugins ?? {}).filter(([, isOn]) => isOn !== false);
  const hooks = Object.entries(settings.hooks ?? {}).flatMap(([event, groups]) =>
    groups.flatMap(({ hooks }) =>
      hooks.flatMap(({ command, url }) => {
        const what = command ?? url;
        return what === undefined ? [] : [`${event}: ${oneLine(what, MAX_COMMAND_CHARS)}`];
      }),
    ),
  );
  return [...hooks, ...plugins.map(([name]) => `plugin: ${oneLine(name, MAX_COMMAND_CHARS)}`)];
}

/** The note about them in the answer that starts a careful task; undefined without any. */
export async function ownHooksNote(configDir: string): Promise<string | undefined> {
  const hooks = await ownHooks(configDir);
  if (hooks.length === 0) return undefined;
  return `The user's own hooks and those of their plugins run in this task, outside of any sandbox, and may run what the project configures: ${hooks.join('; ')}.`;
}

/**
 * Looks for commands that leave the sandbox despite the command line, since Claude Code merges the lists of all its settings. Those of the
 * project are not used. Throws SANDBOX_UNAVAILABLE, which names the file. `userFolder`: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
 */
export async function checkSettings(userFolder: string): Promise<void> {
  for (const file of [join(userFolder, 'settings.json'), ...managedFiles]) {
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
