// Pure: where a person's settings and the state of the bridge are.
import { isAbsolute, join } from 'node:path';

/** Where a person's folders are. */
export interface Home {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
}

/** `~` and `~/x` with the home folder in place of the `~`; anything else (also `~other`) as it is. */
export function expandHome(path: string, homeDir: string): string {
  return path === '~' || path.startsWith('~/') ? homeDir + path.slice(1) : path;
}

/** The settings file that is read when none is named, and that `init` writes. */
export function defaultSettingsPath(homeDir: string): string {
  return join(homeDir, '.config', 'mcp-claude-bridge', 'config.json');
}

/** Absolute path of the folder for task records and locks; it need not exist yet. */
export function stateDirectory(
  config: { readonly state_dir: string | null },
  { env, homeDir }: Home,
): string {
  if (config.state_dir !== null) return config.state_dir;
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification has relative paths ignored.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeDir, '.local', 'state');
  return join(base, 'claude-code-bridge');
}
