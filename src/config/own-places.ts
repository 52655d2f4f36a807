import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  const { homeDir, settingsFile } = place;
  return [
    stateDirectory(config, place),
    dirname(defaultSettingsPath(homeDir)),
    ...(settingsFile == null ? [] : [settingsFile]),
    // Sockets, where the path of the state is too long for them.
    join(tmpdir(), `ccb-${process.getuid?.() ?? 0}`),
  ];
}
