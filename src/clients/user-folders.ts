import { join } from 'node:path';
import type { ClientPlace } from './chat-client.js';

/** The user's folder for settings by the XDG rules, which many programs follow on macOS too. */
export function xdgConfig({ env, homeDir }: ClientPlace): string {
  const folder = env['XDG_CONFIG_HOME'];
  return folder !== undefined && folder.startsWith('/') ? folder : join(homeDir, '.config');
}

/** The folder where desktop programs keep their settings. */
export function desktopConfig(place: ClientPlace): string {
  return place.platform === 'darwin'
    ? join(place.homeDir, 'Library', 'Application Support')
    : xdgConfig(place);
}
