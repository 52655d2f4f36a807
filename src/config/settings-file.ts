import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { expandHome } from './home-path.js';
import { readTextFile } from './read-text-file.js';

export const SETTINGS_FILE_VARIABLE = 'MCP_CLAUDE_BRIDGE_CONFIG';
const SHOWN_CHARS = 400;
const WRITABLE_BY_OTHERS = 0o002;

export interface SettingsFileSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly homeDir: string;
  /** What `--config` named. */
  readonly configPath?: string | undefined;
}

/** The settings file that is read when none is named, and that `init` writes. */
export function defaultSettingsPath(homeDir: string): string {
  return join(homeDir, '.config', 'mcp-claude-bridge', 'config.json');
}

export type FoundSettingsFile =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'error'; readonly error: string };

/**
 * The settings file: the one that `--config` names, else the one that the environment names, else the default one if it is
 * there. A named file that is missing is an error: another file would not be the one that the user asked for.
 */
export async function findSettingsFile(
  search: SettingsFileSearch,
  warn: (warning: string) => void,
): Promise<FoundSettingsFile> {
  const named = namedFile(search);
  if (named?.error !== undefined) return { kind: 'error', error: named.error };
  const path = named?.path ?? defaultSettingsPath(search.homeDir);
  const shownPath = oneLine(path, SHOWN_CHARS);
  const file = await readTextFile(path);
  await warnOfUnusedFile(search, path, warn);
  if (file.kind === 'text') {
    if (file.mode & WRITABLE_BY_OTHERS) {
      warn(
        `${shownPath} is writable by every user of this machine, so any of them can choose the command that runs. Remove that permission with chmod o-w.`,
      );
    }
    return { kind: 'file', path, text: file.text };
  }
  if (file.kind === 'missing' && named === undefined) return { kind: 'none' };
  const by = named === undefined ? '' : ` (named by ${named.by})`;
  const state = file.kind === 'error' ? `the settings file ${file.error}` : 'found no file';
  return { kind: 'error', error: `${shownPath}${by}: ${state}, expected a readable file of JSON` };
}

type NamedFile =
  { readonly path: string; readonly by: string; readonly error?: undefined } | { readonly error: string };

function namedFile(search: SettingsFileSearch): NamedFile | undefined {
  const inEnvironment = search.env[SETTINGS_FILE_VARIABLE];
  const [name, by] =
    search.configPath === undefined
      ? [inEnvironment, `environment variable ${SETTINGS_FILE_VARIABLE}`]
      : [search.configPath, 'flag --config'];
  if (name === undefined) return undefined;
  const path = expandHome(name, search.homeDir);
  if (path === '' || path.includes('\0') || /^~[^/]/.test(path)) {
    const shownName = oneLine(JSON.stringify(name), SHOWN_CHARS);
    return {
      error: `${by}: found ${shownName}, expected the path of a settings file (~/ is your home folder; ~name is not supported)`,
    };
  }
  return { path: resolve(search.cwd, path), by };
}

/** A checkout must not choose the command that runs, so the file in the start folder counts only when the user names it. */
async function warnOfUnusedFile(
  search: SettingsFileSearch,
  used: string,
  warn: (warning: string) => void,
): Promise<void> {
  const unused = join(search.cwd, 'config.json');
  if (unused === used) return;
  try {
    await lstat(unused);
  } catch (thrown) {
    // It is ignored either way.
    if (systemCodeOf(thrown) !== undefined) return;
    throw thrown;
  }
  const shownPath = oneLine(unused, SHOWN_CHARS);
  warn(
    `${shownPath} is ignored: a settings file in the start folder is read only when it is named, with --config ${shownPath} or ${SETTINGS_FILE_VARIABLE}=${shownPath}.`,
  );
}
