import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Config } from './schema.js';
import { defaultSettingsPath } from './settings-file.js';
import { stateDirectory } from './state-directory.js';

/**
 * The folders and files of the bridge itself: its state, its sockets, and its settings (the default place, and the file that
 * was read). No tool reads or writes there, whatever the allowed roots are. Absolute paths; they need not exist.
 */
export function ownPlaces(
  config: Pick<Config, 'state_dir'>,
  context: {
    readonly env: NodeJS.ProcessEnv;
    readonly homeDir: string;
    /** The settings file that was read. */
    readonly settingsFile?: string | null | undefined;
  },
): string[] {
  const { env, homeDir, settingsFile } = context;
  const runtime = env['XDG_RUNTIME_DIR'];
  return [
    stateDirectory(config, context),
    dirname(defaultSettingsPath(homeDir)),
    ...(settingsFile == null ? [] : [settingsFile]),
    ...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'ccb')] : []),
    join(tmpdir(), `ccb-${process.getuid?.() ?? 0}`),
  ];
}
