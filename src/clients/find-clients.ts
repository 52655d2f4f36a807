import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreSystemError } from '../base/errors.js';
import { findOnPath } from '../os/find-on-path.js';
import type { ChatClient, ClientPlace } from './chat-client.js';
import { chatClients } from './chat-clients.js';

/** Where WSL shows the drive of Windows unless `/etc/wsl.conf` says otherwise. */
const WINDOWS_USERS = '/mnt/c/Users';

/** The clients that are installed: by the files they leave, or by a program on PATH. */
export async function installedClients(place: ClientPlace): Promise<readonly ChatClient[]> {
  const found = await Promise.all(chatClients.map((client) => isInstalled(client, place)));
  return chatClients.filter((_client, index) => found[index]);
}

async function isInstalled(client: ChatClient, place: ClientPlace): Promise<boolean> {
  const files = client.settingsFiles(place);
  if (files.length === 0) return false;
  for (const trace of client.traces?.(place) ?? files.map(dirname)) if (await isThere(trace)) return true;
  for (const program of client.programs)
    if ((await findOnPath(program, place.env['PATH'])) !== undefined) return true;
  return false;
}

/** Whether there is something at `path`; false for what this user cannot reach. */
export async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreSystemError)) !== undefined;
}

/**
 * The home folder of the Windows user who has Claude Desktop, as WSL shows it; undefined outside WSL. Of several users it
 * is the first whose Claude Desktop has settings here.
 */
export async function windowsHome(
  env: Readonly<Record<string, string | undefined>>,
  users: string = WINDOWS_USERS,
): Promise<string | undefined> {
  if (env['WSL_DISTRO_NAME'] === undefined || !(await isThere(users))) return undefined;
  for (const name of (await readdir(users)).toSorted()) {
    const home = join(users, name);
    if (await isThere(join(home, 'AppData', 'Roaming', 'Claude'))) return home;
  }
  return undefined;
}
