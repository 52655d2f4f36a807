// Pure.
import { isAbsolute, join } from 'node:path';
import type { Config } from './schema.js';

/** Absolute path of the folder for task records and locks; it need not exist yet. */
export function stateDirectory(
  config: Pick<Config, 'state_dir'>,
  { env, homeDir }: { readonly env: NodeJS.ProcessEnv; readonly homeDir: string },
): string {
  if (config.state_dir !== null) return config.state_dir;
  const xdg = env['XDG_STATE_HOME'];
  // The XDG specification has relative paths ignored.
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeDir, '.local', 'state');
  return join(base, 'claude-code-bridge');
}
