import { BridgeError } from '../../base/errors.js';
import type { ChatClient, ClientPlace } from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import { readClientSettings, removeEntry, settingsPath } from '../../clients/client-settings.js';
import { SERVER_NAME } from '../../clients/server-command.js';
import { chosenClients } from './chosen-clients.js';
import type { InitIo } from './init-io.js';

/** Removes the entry from the clients that have it: all, or those of `--client`. False when a file could not be read: it is named and left as it is. */
export async function removeClients(
  io: InitIo,
  place: ClientPlace,
  ids: readonly string[] | undefined,
): Promise<boolean> {
  const wanted = ids === undefined || ids.includes('all') ? chatClients : await chosenClients(ids, place);
  let removed = 0;
  let isDone = true;
  for (const client of wanted) {
    try {
      if (await removeFrom(io, place, client)) removed++;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      io.writeError(`${error.message}\n${error.hint}`);
      isDone = false;
    }
  }
  if (removed === 0 && isDone) io.write(`No client has an entry for ${SERVER_NAME}.`);
  return isDone;
}

/** False for a client that has no entry. */
async function removeFrom(io: InitIo, place: ClientPlace, client: ChatClient): Promise<boolean> {
  const path = await settingsPath(client, place);
  if (path === undefined) return false;
  const settings = await readClientSettings(client, path);
  if (settings.entry === undefined) return false;
  const { backup } = await removeEntry(settings);
  io.write(`Removed ${SERVER_NAME} from ${path}.`);
  if (backup !== undefined) io.write(`A copy of older settings is left in ${backup}`);
  return true;
}
