import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Config } from './schema.js';

/** Where a person's folders are. */
interface Home {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
}

/** A copy of the process's environment; nothing else reads `process.env`. */
export function readEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
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
export function stateDirectory(config: Pick<Config, 'state_dir'>, { env, homeDir }: Home): string {
  if (config.state_dir !== null) return config.state_dir;
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification has relative paths ignored.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeDir, '.local', 'state');
  return join(base, 'claude-code-bridge');
}

/**
 * The folders and files of the bridge itself: its state, its sockets, and its settings (the default place, and `settingsFile`, which
 * was read). No tool reads or writes there, whatever the allowed roots are. Absolute paths; they need not exist.
 */
export function ownPlaces(
  config: Pick<Config, 'state_dir'>,
  place: Home & { readonly settingsFile?: string | null | undefined },
): string[] {
  const { env, homeDir, settingsFile } = place;
  const runtime = env['XDG_RUNTIME_DIR'];
  return [
    stateDirectory(config, place),
    dirname(defaultSettingsPath(homeDir)),
    ...(settingsFile == null ? [] : [settingsFile]),
    ...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'ccb')] : []),
    join(tmpdir(), `ccb-${process.getuid?.() ?? 0}`),
  ];
}
