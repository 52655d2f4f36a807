import { shellWord, countedNoun } from '../../base/text.js';
import { folderFault } from '../../config/load-config.js';
import { modeSettings, modeWords } from '../../config/permission-modes.js';
import { SETTINGS_FILE_VARIABLE } from '../../config/settings-file.js';
import { editCommand, fault, ok, unchecked, warning, type Check } from '../check.js';

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
    const edit = editCommand(source ?? configPath ?? env[SETTINGS_FILE_VARIABLE] ?? defaultSource, homeDir);
    if (error !== undefined) {
      const variable = VARIABLE.exec(error.message)?.[1];
      return fault(
        'The settings of the bridge cannot be used, so it refuses every call',
        'Correct what the lines above name; docs/settings.md of the package lists every setting.',
        variable === undefined ? edit : `unset ${variable}`,
        error.message.split('\n'),
      );
    }
    // Folders have a check of their own.
    const others = warnings.filter((warning) => !warning.startsWith('allowed_roots: '));
    const summary =
      source === null ? `No settings file (${defaultSource})` : `Settings are read from ${source}`;
    const modes =
      modeWords(modeSettings(config, origins)) ?? 'permission_mode: default auto, all are allowed.';
    if (others.length === 0) return ok(summary, [modes]);
    const writable = others.map((warning) => WRITABLE.exec(warning)?.[1]).find(Boolean);
    const mends = writable === undefined ? edit : `chmod o-w ${shellWord(writable, homeDir)}`;
    return warning(summary, 'Do what the lines above say.', mends, [modes, ...others]);
  },
};

export const allowedRoots: Check = {
  id: 'allowed-roots',
  category: 'settings',
  look: async ({ settings, homeDir, command }) => {
    const { config, error, source, defaultSource } = await settings();
    if (error !== undefined) return unchecked('the settings cannot be used.');
    const roots = config.allowed_roots;
    if (roots.length === 0)
      return fault(
        'No allowed roots are set, so no task can start',
        'Choose the folders in which tasks may work, for instance:',
        `mkdir -p ~/Projects && ${command} init --roots ~/Projects`,
      );
    const looked = await Promise.all(roots.map(async (root) => ({ root, wrong: await folderFault(root) })));
    const bad = looked.flatMap(({ root, wrong }) => (wrong === undefined ? [] : [{ root, ...wrong }]));
    const [first] = bad;
    if (first === undefined) return ok(`Tasks may work in ${countedNoun(roots.length, 'folder')}`, roots);
    const isLast = bad.length === roots.length;
    const word = shellWord(first.root, homeDir);
    const commands = { missing: `mkdir -p ${word}`, unreadable: `chmod u+rx ${word}`, other: undefined };
    return (isLast ? fault : warning)(
      isLast ? 'No allowed root can be used' : 'Some of the allowed roots cannot be used',
      first.kind === 'missing'
        ? 'Create the folder, or take it out of allowed_roots.'
        : 'Correct allowed_roots in the settings, or the folder.',
      commands[first.kind] ?? editCommand(source ?? defaultSource, homeDir),
      bad.map(({ root, words }) => `${root} ${words}.`),
    );
  },
};
