import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../base/files/json-file.js';
import { claudeConfigDir } from '../../claude/transcript-files.js';
import { ok, unchecked, type Check } from '../check.js';

const PLUGIN = /^code-bridge@/;
const MARKETPLACE = 'claude-code-bridge-plugins';

const installedSchema = z.looseObject({ plugins: z.record(z.string(), z.unknown()) });
const settingsSchema = z.looseObject({ enabledPlugins: z.record(z.string(), z.unknown()).optional() });

/** The plugin by which sessions that a person starts are seen. */
export const plugin: Check = {
  id: 'plugin',
  category: 'optional',
  look: async ({ env, homeDir, run }) => {
    const folder = claudeConfigDir(env) ?? join(homeDir, '.claude');
    const installed = await readJsonFile(join(folder, 'plugins', 'installed_plugins.json'), installedSchema);
    if (installed.state === 'corrupt') return unchecked(`the list of plugins: ${installed.why}`);
    const names = installed.state === 'ok' ? Object.keys(installed.value.plugins) : [];
    const name = names.find((known) => PLUGIN.test(known));
    if (name === undefined) {
      return {
        status: 'optional',
        summary: 'The plugin is not installed; only sessions that you start yourself need it',
        remedy: {
          words: 'Install it in Claude Code, after its marketplace (docs/native.md).',
          command: `claude plugin install code-bridge@${MARKETPLACE}`,
        },
      };
    }
    const settings = await readJsonFile(join(folder, 'settings.json'), settingsSchema);
    const enabled = settings.state === 'ok' ? settings.value.enabledPlugins?.[name] : undefined;
    if (enabled === false) {
      return {
        status: 'optional',
        summary: `The plugin ${name} is installed and switched off`,
        remedy: { words: 'Switch it on.', command: `claude plugin enable ${name}` },
      };
    }
    // Its hooks start the server by npx.
    const npx = await run('npx', ['--version']);
    if (npx.how === 'exited' && npx.code === 0) return ok(`The plugin ${name} is installed`);
    return {
      status: 'warning',
      summary: `The plugin ${name} starts the bridge by npx, which was not found`,
      remedy: { words: 'Install npm, which brings npx.', command: 'npm install -g npm' },
    };
  },
};
