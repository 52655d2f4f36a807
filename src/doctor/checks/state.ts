import { lstat, realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { shellWord } from '../../base/text.js';
import { foreignState } from '../../store/machine.js';
import { openStateDir, requireStateDir } from '../../store/state-dir.js';
import { errorOf, fault, ok, warning, type Check } from '../check.js';

const OWNER_ALL = 0o700;

export const stateDirectory: Check = {
  id: 'state-directory',
  category: 'state',
  look: async (context) => {
    const path = await context.statePath();
    const facts = await lstat(path).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    });
    if (facts === undefined) return ok(`The state directory will be ${path}`);
    const { uid, homeDir, command } = context;
    const word = shellWord(path, homeDir);
    const its = `The state directory ${path}`;
    if (!facts.isDirectory()) {
      const words =
        'Put it aside; the bridge creates the folder. To have it elsewhere, set state_dir in the settings.';
      const kind = facts.isSymbolicLink() ? 'a link' : 'a file';
      return fault(`${its} is ${kind}, not a folder`, words, `mv ${word} ${word}.aside`);
    }
    if (facts.uid !== uid) {
      const whose = `${its} belongs to user ${facts.uid}, and the bridge runs as user ${uid}`;
      return fault(whose, 'Give it back to its user.', `sudo chown -R ${uid} ${word}`);
    }
    const refusal = await errorOf(() => requireStateDir(path));
    if (refusal !== undefined)
      return fault(`${its} holds files that are not the bridge’s`, `${refusal.message} ${refusal.hint}`);
    const mode = facts.mode & 0o777;
    if (mode !== OWNER_ALL) {
      const shown = `${its} has the mode ${mode.toString(8).padStart(4, '0')}, until the bridge next starts`;
      return warning(shown, 'Only its owner may enter it.', `chmod 700 ${word}`);
    }
    const foreign = await foreignState(path);
    if (foreign !== undefined) return fault(foreign.message, foreign.hint, `${command} state adopt`);
    const root = await rootAround(path, (await context.settings()).config.allowed_roots);
    if (root === undefined) return ok(`The state directory is ${path}`);
    return warning(
      `${its} lies in the allowed root ${root}`,
      'No task can start in a folder that contains it. If you need one, set state_dir to a folder outside the roots.',
    );
  },
  fix: async (context) => {
    // Of the warnings, only that of the mode has a command, and what opens the folder makes it private.
    const { status, command } = await stateDirectory.look(context);
    if (status !== 'warning' || command === null) return undefined;
    const path = await context.statePath();
    await openStateDir({ path, uid: context.uid });
    return `chmod 700 ${path}`;
  },
};

/** The allowed root that contains a folder which exists. */
async function rootAround(path: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realpath(path);
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => root);
    if (!relative(realRoot, real).split(sep).includes('..')) return root;
  }
  return undefined;
}
