import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';

/** Characters that file systems of macOS leave out when they compare names, as git has them for `.git`. */
const IGNORED_CHARACTERS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const SHOWN_CHARS = 400;

/** Throws PROTECTED_PATH for a path, given or real, whose content can make git or Claude Code run a program. */
export function refuseProtected(path: string): void {
  if (!isProtectedPath(path)) return;
  throw new BridgeError(
    'PROTECTED_PATH',
    `Path '${oneLine(path, SHOWN_CHARS)}' is protected: what is written there can run programs later.`,
    'Ask the user to write it, or to set "allow_protected_writes" in the settings and restart the server.',
  );
}

/** `.git` and what is in it, `.claude/settings*`, `.mcp.json`; in any case, since some file systems know none. */
export function isProtectedPath(path: string): boolean {
  const names = path.split('/').map((name) => name.replace(IGNORED_CHARACTERS, '').toLowerCase());
  return names.some(
    (name, index) =>
      name === '.git' ||
      name === '.mcp.json' ||
      (name.startsWith('settings') && names[index - 1] === '.claude'),
  );
}
