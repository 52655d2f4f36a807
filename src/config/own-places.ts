import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { defaultSettingsPath, stateDirectory, type Home } from './places.js';

/** A copy of the process's environment; nothing else reads `process.env`. */
export function readEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}

/**
 * The folders and files of the bridge itself: its state, its sockets, and its settings (the default place, and `settingsFile`, which
 * was read). No tool reads or writes there, whatever the allowed roots are. Absolute paths; they need not exist.
 */
export function ownPlaces(
  config: { readonly state_dir: string | null },
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
