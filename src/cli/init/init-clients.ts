import { isDeepStrictEqual } from 'node:util';
import { BridgeError, ignoreBridgeError } from '../../base/errors.js';
import { dialectOf, howToAdd, howToRemove, printEntry, type ChatClient } from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import {
  addEntry,
  readClientSettings,
  removeEntry,
  settingsPath,
  withEntry,
} from '../../clients/client-settings.js';
import { installedClients } from '../../clients/find-clients.js';
import { SERVER_NAME } from '../../clients/server-command.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import type { Init } from './init-settings.js';

/** A client, and its settings file. */
interface ClientPlan {
  readonly client: ChatClient;
  readonly path: string;
}

/**
 * Learns from the flags or by asking which clients get the entry; writes nothing, and names and counts those whose settings cannot be edited.
 * Throws Cancelled, and INVALID_ARGUMENTS for flags.
 */
export async function planClients(
  init: Init,
): Promise<{ readonly plans: readonly ClientPlan[]; readonly leftOut: number }> {
  const plans: ClientPlan[] = [];
  let leftOut = 0;
  for (const plan of await wantedClients(init)) {
    try {
      if (await getsEntry(init, plan)) plans.push(plan);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'CONFIG_ERROR') throw error;
      init.writeError(`${plan.client.title} is left out. ${error.message}\n${error.hint}`);
      leftOut++;
    }
  }
  return { plans, leftOut };
}

/** Adds or replaces the entries; the old settings are saved in copies beside the files. For settings that are not JSON it says how a person adds it. */
export async function writeClients(init: Init, plans: readonly ClientPlan[]): Promise<void> {
  const { write, serverCommand } = init;
  for (const { client, path } of plans) {
    if (dialectOf(client) === undefined) {
      write(`${howToAdd(client, serverCommand, { ...init, path })}\n${client.next}`);
      continue;
    }
    // It may have been changed while the questions were asked.
    const settings = await readClientSettings(client, path);
    const entry = client.entry(serverCommand, init);
    if (isDeepStrictEqual(settings.entry, entry)) {
      write(`${path} already holds the entry for ${SERVER_NAME}.`);
      continue;
    }
    const backup = await addEntry(settings, entry);
    if (backup !== undefined) write(`Kept the old settings in ${backup}`);
    write(`Added ${SERVER_NAME} to ${path}.\n${client.next}`);
    if (settings.note !== undefined) write(settings.note);
  }
}

/** Removes the entry from the clients that have it: all, or those of `--client`. False when a file could not be edited: it is named and left as it is. */
export async function removeClients(init: Init): Promise<boolean> {
  const { write, writeError, client: ids } = init;
  const wanted = ids === undefined || ids.includes('all') ? chatClients : await chosenClients(init, ids);
  let found = 0;
  let isDone = true;
  for (const plan of await plansOf(init, wanted)) {
    try {
      if (await removeFrom(write, plan)) found++;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      writeError(`${error.message}\n${error.hint}`);
      isDone = false;
    }
  }
  if (found === 0 && isDone) write(`No client has an entry for ${SERVER_NAME}.`);
  return isDone;
}

/** Shows the entry for who edits by hand: only the entry goes to standard output. */
export async function printClient(init: Init, client: ChatClient): Promise<ExitCode> {
  const { write, writeError, platform, serverCommand } = init;
  const path = await settingsPath(client, init);
  if (path === undefined) writeError(`${client.title} is not available for ${platform}.`);
  else writeError(`For ${client.title}, in ${path}:`);
  write(printEntry(client, serverCommand, init));
  const more = [client.byHand, client.next, `See ${client.source}`];
  writeError(more.filter((words) => words !== undefined).join('\n'));
  return exitCodes.done;
}

/** Of the clients that are installed the titles of those that have the server, and the ids of the others. */
export async function clientsHere(init: Init): Promise<{ having: string[]; without: string[] }> {
  const having: string[] = [];
  const without: string[] = [];
  for (const { client, path } of await plansOf(init, await installedClients(init))) {
    const settings = await readClientSettings(client, path).catch(ignoreBridgeError);
    const isMentioned = settings?.servers === undefined && settings?.text.includes(SERVER_NAME) === true;
    if (isMentioned || settings?.entry !== undefined) having.push(client.title);
    else if (settings !== undefined) without.push(client.id);
  }
  return { having, without };
}

/** Those clients that this platform has. */
async function plansOf(init: Init, clients: readonly ChatClient[]): Promise<readonly ClientPlan[]> {
  const found = clients.map(async (client) => ({ client, path: await settingsPath(client, init) }));
  return (await Promise.all(found)).flatMap(({ client, path }) =>
    path === undefined ? [] : { client, path },
  );
}

/** The clients of the flags, or those that the person chooses from all that are installed. */
async function wantedClients(init: Init): Promise<readonly ClientPlan[]> {
  const { client: ids, questions, yes } = init;
  if (ids !== undefined) return plansOf(init, await chosenClients(init, ids));
  if (yes === true || questions === undefined) return [];
  const plans = await plansOf(init, await installedClients(init));
  if (plans.length === 0) return [];
  const choices = plans.map(({ client: { id, title }, path }) => ({ value: id, label: title, hint: path }));
  const chosen = await questions.choose(`Add ${SERVER_NAME} to these clients?`, choices);
  return plans.filter(({ client }) => chosen.includes(client.id));
}

/** Whether the client gets the entry. Throws CONFIG_ERROR for settings that cannot be edited. */
async function getsEntry(init: Init, { client, path }: ClientPlan): Promise<boolean> {
  if (dialectOf(client) === undefined) return true;
  const settings = await readClientSettings(client, path);
  const wanted = client.entry(init.serverCommand, init);
  withEntry(settings, wanted);
  const { entry } = settings;
  if (entry === undefined || isDeepStrictEqual(entry, wanted)) return true;
  init.write(`${path} already holds:\n${JSON.stringify({ [SERVER_NAME]: entry }, null, 2)}`);
  if (init.yes === true) return true;
  if (init.questions !== undefined) return init.questions.confirm('Replace that entry?', false);
  const message = `${path} already has another entry for ${SERVER_NAME}, and there is no terminal to ask in.`;
  throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass --yes to replace it. Nothing was written.');
}

/** False for a client that has no entry. */
async function removeFrom(write: Init['write'], { client, path }: ClientPlan): Promise<boolean> {
  const settings = await readClientSettings(client, path);
  if (settings.servers === undefined) {
    const isMentioned = settings.text.includes(SERVER_NAME);
    if (isMentioned) write(howToRemove(client, path));
    return isMentioned;
  }
  if (settings.entry === undefined) return false;
  const backup = await removeEntry(settings);
  write(`Removed ${SERVER_NAME} from ${path}.`);
  if (backup !== undefined) write(`A copy of older settings is left in ${backup}`);
  return true;
}

/** The clients of `--client`; `all` stands for every one that is installed. Throws INVALID_ARGUMENTS for an unknown id, or a client that this platform does not have. */
async function chosenClients(init: Init, ids: readonly string[]): Promise<readonly ChatClient[]> {
  if (ids.length === 0) throw unknownClient('The list of clients is empty.');
  const chosen = ids.filter((id) => id !== 'all').map(clientOf);
  const missing = chosen.find((client) => client.settingsFiles(init).length === 0);
  if (missing !== undefined) {
    const message = `${missing.title} is not available for ${init.platform}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Choose another client. Nothing was written.');
  }
  const installed = ids.includes('all') ? await installedClients(init) : [];
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
