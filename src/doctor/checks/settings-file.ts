import { shellWord } from '../../base/text/shell-word.js';
import { SETTINGS_FILE_VARIABLE } from '../../config/settings-file.js';
import { modeSettings, modeWords } from '../../config/permission-modes.js';
import { ok, type Check } from '../check.js';

/** Of a warning about a file that others may write, from the loader of the settings. */
const WRITABLE = /^(.*) is writable by every user of this machine/;

/** Of an error about a variable, which comes first where the file has none. */
const VARIABLE = /^environment variable (\w+)/;

export const settingsFile: Check = {
  id: 'settings-file',
  category: 'settings',
  look: async (context) => {
    const { config, origins, source, defaultSource, error, warnings } = await context.settings();
    const { env, homeDir, configPath } = context;
    const path = source ?? configPath ?? env[SETTINGS_FILE_VARIABLE] ?? defaultSource;
    if (error !== undefined) {
      const variable = VARIABLE.exec(error.message)?.[1];
      return {
        status: 'error',
        summary: 'The settings of the bridge cannot be used, so it refuses every call',
        details: error.message.split('\n'),
        remedy: {
          words: 'Correct what the lines above name; docs/settings.md of the package lists every setting.',
          command:
            variable === undefined ? `\${EDITOR:-vi} ${shellWord(path, homeDir)}` : `unset ${variable}`,
        },
      };
    }
    // Folders have a check of their own.
    const others = warnings.filter((warning) => !warning.startsWith('allowed_roots: '));
    const summary =
      source === null ? `No settings file (${defaultSource})` : `Settings are read from ${source}`;
    const modes =
      modeWords(modeSettings(config, origins)) ?? 'permission_mode: default auto, all are allowed.';
    if (others.length === 0) return ok(summary, [modes]);
    const writable = others
      .map((warning) => WRITABLE.exec(warning)?.[1])
      .find((found) => found !== undefined);
    return {
      status: 'warning',
      summary,
      details: [modes, ...others],
      remedy: {
        words: 'Do what the lines above say.',
        command:
          writable === undefined
            ? `\${EDITOR:-vi} ${shellWord(path, homeDir)}`
            : `chmod o-w ${shellWord(path, homeDir)}`,
      },
    };
  },
};
