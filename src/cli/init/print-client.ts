import type { ClientPlace } from '../../clients/chat-client.js';
import { printEntry, settingsPath } from '../../clients/client-settings.js';
import type { ServerCommand } from '../../clients/server-command.js';
import { clientOf } from './chosen-clients.js';
import type { InitIo } from './init-io.js';

/** Shows the entry for who edits by hand: only the entry goes to standard output. Throws INVALID_ARGUMENTS for an unknown id. */
export async function printClient(
  io: InitIo,
  id: string,
  serverCommand: ServerCommand,
  place: ClientPlace,
): Promise<void> {
  const client = clientOf(id);
  const path = await settingsPath(client, place);
  if (path === undefined) io.writeError(`${client.title} is not available for ${place.platform}.`);
  else io.writeError(`For ${client.title}, in ${path}:`);
  io.write((await printEntry(client, serverCommand, place)).trimEnd());
  io.writeError(
    [client.byHand, client.next, `See ${client.source}`].filter((words) => words !== undefined).join('\n'),
  );
}
