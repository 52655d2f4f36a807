import { BridgeError, ignoreBridgeError } from '../../base/errors.js';
import { isDeepStrictEqual } from 'node:util';
import {
  dialectOf,
  howToAdd,
  howToRemove,
  printEntry,
  type ChatClient,
  type ClientPlace,
} from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import {
  addEntry,
  readClientSettings,
  removeEntry,
  settingsPath,
  withEntry,
} from '../../clients/client-settings.js';
import { installedClients } from '../../clients/find-clients.js';
import { SERVER_NAME, type ServerCommand } from '../../clients/server-command.js';
import { given, type InitIo, type InitOptions } from './questions.js';

type ClientsRequest = Pick<InitOptions, 'io' | 'serverCommand' | 'client' | 'yes'> & {
  readonly place: ClientPlace;
};

/** A client that is to get the entry. */
export interface ClientPlan {
  readonly client: ChatClient;
  readonly path: string;
}

/**
 * Learns from the flags or by asking which clients get the entry; writes nothing, and names and counts those whose settings cannot be edited.
 * Throws Cancelled, and INVALID_ARGUMENTS for flags.
 */
export async function planClients(
  request: ClientsRequest,
): Promise<{ readonly plans: readonly ClientPlan[]; readonly leftOut: number }> {
  const plans: ClientPlan[] = [];
  let leftOut = 0;
  for (const plan of await wantedClients(request)) {
    try {
      if (await getsEntry(request, plan)) plans.push(plan);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'CONFIG_ERROR') throw error;
      request.io.writeError(`${plan.client.title} is left out. ${error.message}\n${error.hint}`);
      leftOut++;
    }
  }
  return { plans, leftOut };
}

/** Adds or replaces the entries; the old settings are saved in copies beside the files. For settings that are not JSON it says how a person adds it. */
export async function writeClients(
  { io, place, serverCommand }: ClientsRequest,
  plans: readonly ClientPlan[],
): Promise<void> {
  for (const { client, path } of plans) {
    if (dialectOf(client) === undefined) {
      io.write(`${howToAdd(client, serverCommand, { ...place, path })}\n${client.next}`);
      continue;
    }
    // It may have been changed while the questions were asked.
    const settings = await readClientSettings(client, path);
    const entry = client.entry(serverCommand, place);
    if (isDeepStrictEqual(settings.entry, entry)) {
      io.write(`${path} already holds the entry for ${SERVER_NAME}.`);
      continue;
    }
    const backup = await addEntry(settings, entry);
    if (backup !== undefined) io.write(`Kept the old settings in ${backup}`);
    io.write(`Added ${SERVER_NAME} to ${path}.\n${client.next}`);
    if (settings.note !== undefined) io.write(settings.note);
  }
}

/** Removes the entry from the clients that have it: all, or those of `--client`. False when a file could not be edited: it is named and left as it is. */
export async function removeClients(
  io: InitIo,
  place: ClientPlace,
  ids: readonly string[] | undefined,
): Promise<boolean> {
  const wanted = ids === undefined || ids.includes('all') ? chatClients : await chosenClients(ids, place);
  let found = 0;
  let isDone = true;
  for (const client of wanted) {
    try {
      if (await removeFrom(io, place, client)) found++;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      io.writeError(`${error.message}\n${error.hint}`);
      isDone = false;
    }
  }
  if (found === 0 && isDone) io.write(`No client has an entry for ${SERVER_NAME}.`);
  return isDone;
}

/** Shows the entry for who edits by hand: only the entry goes to standard output. */
export async function printClient(
  io: InitIo,
  client: ChatClient,
  serverCommand: ServerCommand,
  place: ClientPlace,
): Promise<void> {
  const path = await settingsPath(client, place);
  if (path === undefined) io.writeError(`${client.title} is not available for ${place.platform}.`);
  else io.writeError(`For ${client.title}, in ${path}:`);
  io.write(printEntry(client, serverCommand, place));
  io.writeError(
    [client.byHand, client.next, `See ${client.source}`].filter((words) => words !== undefined).join('\n'),
  );
}

/** Of the clients that are installed the titles of those that have the server, and the ids of the others. */
export async function clientsHere(place: ClientPlace): Promise<{ having: string[]; without: string[] }> {
  const having: string[] = [];
  const without: string[] = [];
  for (const client of await installedClients(place)) {
    const path = await settingsPath(client, place);
    const settings =
      path === undefined ? undefined : await readClientSettings(client, path).catch(ignoreBridgeError);
    const isMentioned = settings?.servers === undefined && settings?.text.includes(SERVER_NAME) === true;
    if (isMentioned || settings?.entry !== undefined) having.push(client.title);
    else if (settings !== undefined) without.push(client.id);
  }
  return { having, without };
}

/** The clients of the flags, or those that the person chooses from all that are installed. */
async function wantedClients({
  io,
  place,
  client: ids,
  yes,
}: ClientsRequest): Promise<readonly ClientPlan[]> {
  if (ids === undefined && (yes === true || io.questions === undefined)) return [];
  const found = ids === undefined ? await installedClients(place) : await chosenClients(ids, place);
  const plans: ClientPlan[] = [];
  for (const client of found) {
    const path = await settingsPath(client, place);
    if (path !== undefined) plans.push({ client, path });
  }
  if (ids !== undefined || io.questions === undefined || plans.length === 0) return plans;
  const choices = plans.map(({ client: { id, title }, path }) => ({ value: id, label: title, hint: path }));
  const chosen = await given(io.questions.choose(`Add ${SERVER_NAME} to these clients?`, choices));
  return plans.filter(({ client }) => chosen.includes(client.id));
}

/** Whether the client gets the entry. Throws CONFIG_ERROR for settings that cannot be edited. */
async function getsEntry(
  { io, place, serverCommand, yes }: ClientsRequest,
  { client, path }: ClientPlan,
): Promise<boolean> {
  if (dialectOf(client) === undefined) return true;
  const settings = await readClientSettings(client, path);
  const wanted = client.entry(serverCommand, place);
  withEntry(settings, wanted);
  const { entry } = settings;
  if (entry === undefined || isDeepStrictEqual(entry, wanted)) return true;
  io.write(`${path} already holds:\n${JSON.stringify({ [SERVER_NAME]: entry }, null, 2)}`);
  if (yes === true) return true;
  if (io.questions === undefined) {
    const message = `${path} already has another entry for ${SERVER_NAME}, and there is no terminal to ask in.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass --yes to replace it. Nothing was written.');
  }
  return given(io.questions.confirm('Replace that entry?', false));
}

/** False for a client that has no entry. */
async function removeFrom(io: InitIo, place: ClientPlace, client: ChatClient): Promise<boolean> {
  const path = await settingsPath(client, place);
  if (path === undefined) return false;
  const settings = await readClientSettings(client, path);
  if (settings.servers === undefined) {
    const isMentioned = settings.text.includes(SERVER_NAME);
    if (isMentioned) io.write(howToRemove(client, path));
    return isMentioned;
  }
  if (settings.entry === undefined) return false;
  const backup = await removeEntry(settings);
  io.write(`Removed ${SERVER_NAME} from ${path}.`);
  if (backup !== undefined) io.write(`A copy of older settings is left in ${backup}`);
  return true;
}

/** The clients of `--client`; `all` stands for every one that is installed. Throws INVALID_ARGUMENTS for an unknown id, or a client that this platform does not have. */
async function chosenClients(ids: readonly string[], place: ClientPlace): Promise<readonly ChatClient[]> {
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
