import { BridgeError } from '../../base/errors.js';
import type { ChatClient, ClientPlace } from '../../clients/chat-client.js';
import {
  addEntry,
  isEntry,
  printEntry,
  readClientSettings,
  settingsPath,
} from '../../clients/client-settings.js';
import { installedClients } from '../../clients/find-clients.js';
import { SERVER_NAME, type ServerCommand } from '../../clients/server-command.js';
import { chosenClients } from './chosen-clients.js';
import type { InitIo } from './init-io.js';

export interface ClientsRequest {
  readonly io: InitIo;
  readonly place: ClientPlace;
  readonly serverCommand: ServerCommand;
  /** `--client`: the ids of clients, or `all` for every one that is installed. */
  readonly clients?: readonly string[] | undefined;
  readonly yes?: boolean | undefined;
}

/** A client whose settings are to get the entry. */
export interface ClientPlan {
  readonly client: ChatClient;
  readonly path: string;
}

export type ClientsPlan =
  | {
      readonly kind: 'write';
      readonly plans: readonly ClientPlan[];
      /** How many clients have settings that cannot be read. */
      readonly leftOut: number;
    }
  | { readonly kind: 'cancelled' };

/** Learns from the flags or by asking which clients get the entry; writes nothing. Throws CONFIG_ERROR for a broken file, INVALID_ARGUMENTS for flags. */
export async function planClients(request: ClientsRequest): Promise<ClientsPlan> {
  const { io, place, clients, yes } = request;
  const plans: ClientPlan[] = [];
  let leftOut = 0;
  if (clients === undefined && (yes === true || io.questions === undefined))
    return { kind: 'write', plans, leftOut: 0 };
  const wanted = clients === undefined ? await installedClients(place) : await chosenClients(clients, place);
  for (const client of wanted) {
    const answer = clients?.includes(client.id)
      ? await planClient(request, client)
      : await planFound(request, client);
    if (answer === 'cancelled') return { kind: 'cancelled' };
    if (answer === 'left out') leftOut++;
    else if (answer !== 'keep') plans.push(answer);
  }
  return { kind: 'write', plans, leftOut };
}

/** Adds or replaces the entries; the old settings are saved in copies beside the files. */
export async function writeClients(
  { io, place, serverCommand }: ClientsRequest,
  plans: readonly ClientPlan[],
): Promise<void> {
  for (const { client, path } of plans) {
    // It may have been changed while the questions were asked.
    const settings = await readClientSettings(client, path);
    const entry = client.entry(serverCommand, place);
    if (isEntry(settings.entry, entry)) {
      io.write(`${path} already holds the entry for ${SERVER_NAME}.`);
      continue;
    }
    const { backup } = await addEntry(settings, entry);
    if (backup !== undefined) io.write(`Kept the old settings in ${backup}`);
    io.write(`Added ${SERVER_NAME} to ${path}. ${client.next}`);
  }
}

/** A client that was found and not named: with broken settings it is left out, and the others go on. */
async function planFound(
  request: ClientsRequest,
  client: ChatClient,
): Promise<ClientPlan | 'keep' | 'cancelled' | 'left out'> {
  try {
    return await planClient(request, client);
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    request.io.writeError(`${client.title} is left out. ${error.message}\n${error.hint}`);
    return 'left out';
  }
}

async function planClient(
  request: ClientsRequest,
  client: ChatClient,
): Promise<ClientPlan | 'keep' | 'cancelled'> {
  const { io, place, serverCommand, clients, yes } = request;
  const path = await settingsPath(client, place);
  if (path === undefined) return 'keep';
  const { entry } = await readClientSettings(client, path);
  const isSame = isEntry(entry, client.entry(serverCommand, place));
  if (clients === undefined && io.questions !== undefined) {
    if (!isSame)
      io.write(`For ${client.title}:\n${(await printEntry(client, serverCommand, place)).trimEnd()}`);
    const wanted = await io.questions.confirm(
      `Add ${SERVER_NAME} to the settings of ${client.title} (${path})?`,
      true,
    );
    if (wanted === undefined) return 'cancelled';
    if (!wanted) return 'keep';
  }
  if (entry === undefined || isSame) return { client, path };
  io.write(`${path} already holds:\n${JSON.stringify({ [SERVER_NAME]: entry }, null, 2)}`);
  if (yes === true) return { client, path };
  if (io.questions === undefined) {
    const message = `${path} already has another entry for ${SERVER_NAME}, and there is no terminal to ask in.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass --yes to replace it. Nothing was written.');
  }
  const replace = await io.questions.confirm('Replace that entry?', false);
  if (replace === undefined) return 'cancelled';
  return replace ? { client, path } : 'keep';
}
