import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere } from './is-there.js';

/** Where WSL shows the drive of Windows unless `/etc/wsl.conf` says otherwise. */
const WINDOWS_USERS = '/mnt/c/Users';

/**
 * The home folder of the Windows user who has Claude Desktop, as WSL shows it; undefined outside WSL. Of several users it
 * is the first whose Claude Desktop has settings here.
 */
export async function windowsHome(
  env: Readonly<Record<string, string | undefined>>,
  users: string = WINDOWS_USERS,
): Promise<string | undefined> {
  if (env['WSL_DISTRO_NAME'] === undefined) return undefined;
  for (const name of await namesIn(users)) {
    const home = join(users, name);
    if (await isThere(join(home, 'AppData', 'Roaming', 'Claude'))) return home;
  }
  return undefined;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await isThere(folder)) ? (await readdir(folder)).toSorted() : [];
}
