import { stat } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import { countedNoun } from '../../base/text/text.js';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, unchecked, type Check } from '../check.js';

export const allowedRoots: Check = {
  id: 'allowed-roots',
  category: 'settings',
  look: async ({ settings, homeDir, command }) => {
    const { config, error, source, defaultSource } = await settings();
    if (error !== undefined) return unchecked('the settings cannot be used.');
    const roots = config.allowed_roots;
    if (roots.length === 0) {
      return {
        status: 'error',
        summary: 'No allowed roots are set, so no task can start',
        remedy: {
          words: 'Choose the folders in which tasks may work, for instance:',
          command: `mkdir -p ~/Projects && ${command} init --roots ~/Projects`,
        },
      };
    }
    const bad = (await Promise.all(roots.map(faultOf))).filter((fault) => fault !== undefined);
    const [first] = bad;
    if (first === undefined) return ok(`Tasks may work in ${countedNoun(roots.length, 'folder')}`, roots);
    const isLast = bad.length === roots.length;
    const words = shellWord(first.root, homeDir);
    const commands = { missing: `mkdir -p ${words}`, unreadable: `chmod u+rx ${words}`, other: undefined };
    const mend = commands[first.kind] ?? `\${EDITOR:-vi} ${shellWord(source ?? defaultSource, homeDir)}`;
    return {
      status: isLast ? 'error' : 'warning',
      summary: isLast ? 'No allowed root can be used' : 'Some of the allowed roots cannot be used',
      details: bad.map(({ root, why }) => `${root} ${why}`),
      remedy: {
        words:
          first.kind === 'missing'
            ? 'Create the folder, or take it out of allowed_roots.'
            : 'Correct allowed_roots in the settings, or the folder.',
        command: mend,
      },
    };
  },
};

interface RootFault {
  readonly root: string;
  readonly kind: 'missing' | 'unreadable' | 'other';
  readonly why: string;
}

async function faultOf(root: string): Promise<RootFault | undefined> {
  try {
    if ((await stat(root)).isDirectory()) return undefined;
    return { root, kind: 'other', why: 'is not a folder.' };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT') return { root, kind: 'missing', why: 'does not exist.' };
    return { root, kind: code === 'EACCES' ? 'unreadable' : 'other', why: `cannot be read (${code}).` };
  }
}
