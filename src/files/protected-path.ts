import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { isLive } from '../projects/live-names.js';

const SHOWN_CHARS = 400;

/** Rejects for an absolute path, given or real, at which nothing may be written. */
export type WriteGuard = (path: string) => Promise<void>;

/**
 * Rejects with PATH_NOT_ALLOWED for what belongs to the bridge itself, and with PROTECTED_PATH for a file that runs later or
 * instructs later sessions, unless those are allowed. The folders above the allowed root do not count.
 */
export function writeGuard(roots: AllowedRoots, allowProtectedWrites: boolean): WriteGuard {
  return async (path) => {
    await roots.refuseOwn(path);
    if (allowProtectedWrites || !isLive(await roots.belowRoot(path))) return;
    throw new BridgeError(
      'PROTECTED_PATH',
      `Path '${oneLine(path, SHOWN_CHARS)}' is protected: what is written there runs later, or instructs later sessions, without a further question.`,
      'Show the user the content and let them write it, or let a task write it: start_task with permission_mode "cautious" asks first. ' +
        'A user who wants such files written by this tool sets "allow_protected_writes" in the settings and restarts the server.',
    );
  };
}
