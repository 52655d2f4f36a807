import { join } from 'node:path';
import { z } from 'zod';
import { readSettingsFile } from '../base/files/json-file.js';
import { oneLine } from '../base/text/text.js';

const MAX_COMMAND_CHARS = 80;
const hookSchema = z.looseObject({ command: z.string().optional(), url: z.string().optional() });
const groupsSchema = z.array(z.looseObject({ hooks: z.array(hookSchema).default([]) }));
const settingsSchema = z.looseObject({
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
