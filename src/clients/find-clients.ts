import { findOnPath } from '../os/find-on-path.js';
import type { ChatClient, ClientPlace } from './chat-client.js';
import { chatClients } from './chat-clients.js';
import { isThere } from './is-there.js';

/** The clients that are installed: by the files they leave, or by a program on PATH. */
export async function installedClients(place: ClientPlace): Promise<readonly ChatClient[]> {
  const found = await Promise.all(chatClients.map((client) => isInstalled(client, place)));
  return chatClients.filter((_client, index) => found[index]);
}

async function isInstalled(client: ChatClient, place: ClientPlace): Promise<boolean> {
  if (client.settingsFiles(place).length === 0) return false;
  for (const trace of client.traces(place)) if (await isThere(trace)) return true;
  for (const program of client.programs)
    if ((await findOnPath(program, place.env['PATH'])) !== undefined) return true;
  return false;
}
