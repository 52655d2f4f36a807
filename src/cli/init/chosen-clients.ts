import { BridgeError } from '../../base/errors.js';
import type { ChatClient, ClientPlace } from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import { installedClients } from '../../clients/find-clients.js';

/** The clients of `--client`; `all` stands for every one that is installed. Throws INVALID_ARGUMENTS for an unknown id, or a client that this platform does not have. */
export async function chosenClients(
  ids: readonly string[],
  place: ClientPlace,
): Promise<readonly ChatClient[]> {
  if (ids.length === 0) throw unknownClient('The list of clients is empty.');
  const chosen = ids.filter((id) => id !== 'all').map(clientOf);
  for (const client of chosen) {
    if (client.settingsFiles(place).length > 0) continue;
    const message = `${client.title} is not available for ${place.platform}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Choose another client. Nothing was written.');
  }
  const installed = ids.includes('all') ? await installedClients(place) : [];
  return [...new Set([...chosen, ...installed])];
}

/** The client of that id. Throws INVALID_ARGUMENTS with all ids. */
export function clientOf(id: string): ChatClient {
  const client = chatClients.find((one) => one.id === id);
  if (client !== undefined) return client;
  throw unknownClient(`No chat client has the id ${JSON.stringify(id)}.`);
}

function unknownClient(message: string): BridgeError {
  const ids = chatClients.map((one) => one.id).join(', ');
  return new BridgeError('INVALID_ARGUMENTS', message, `Known clients: ${ids}. Nothing was written.`);
}
