import { dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import { isLive } from '../../projects/live-names.js';
import { aliasesOf } from '../../projects/path-aliases.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { shownPath, type WriteGuard } from './make-directories.js';

/**
 * Rejects with PATH_NOT_ALLOWED for the bridge's own files, and with PROTECTED_PATH for a file that runs later or instructs later
 * sessions, unless those are allowed. A link with such a name to the file also counts, if it is in a folder above the file or in
 * the `.git` there. Folders above the allowed root do not count.
 */
export function writeGuard(roots: AllowedRoots, allowProtectedWrites: boolean): WriteGuard {
  return async (path) => {
    await roots.refuseOwn(path);
    if (allowProtectedWrites || !(await isLiveByAnyName(path, roots))) return;
    throw new BridgeError(
      'PROTECTED_PATH',
      `Path '${shownPath(path)}' is protected: it can run programs later, or instruct later sessions, without asking.`,
      'Show the content to the user and let them write it, or let a task write it: one in the mode "cautious" asks first. ' +
        'To let this tool write such files, the user sets "allow_protected_writes" in the settings and restarts the server.',
    );
  };
}

async function isLiveByAnyName(path: string, roots: AllowedRoots): Promise<boolean> {
  if (isLive(await roots.belowRoot(path))) return true;
  const real = await realPathOfNearest(path);
  const below = await roots.belowRoot(real);
  // The path is outside every root, so opening it will fail anyway.
  if (below === real) return false;
  // From the parent of the file up to the allowed root.
  for (let folder = dirname(real), left = below.split('/').length; left > 0; left--) {
    for (const alias of await aliasesOf([real], folder))
      if (isLive(await roots.belowRoot(alias))) return true;
    folder = dirname(folder);
  }
  return false;
}
