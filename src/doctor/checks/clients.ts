import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { shellWord } from '../../base/text/shell-word.js';
import type { ChatClient, ClientPlace } from '../../clients/chat-client.js';
import { readClientSettings, settingsPath } from '../../clients/client-settings.js';
import { installedClients, isThere, windowsHome } from '../../clients/find-clients.js';
import { SERVER_NAME } from '../../clients/server-command.js';
import { findOnPath } from '../../os/find-on-path.js';
import { ok, type Check, type Finding } from '../check.js';
import type { DoctorContext } from '../context.js';

/** What the entries of all clients have in common: a program with arguments, in one of three spellings. */
const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(z.string()).optional(),
});

type ClientState =
  | { readonly kind: 'ready'; readonly words: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'mentioned'; readonly words: string }
  | { readonly kind: 'broken'; readonly words: string; readonly path: string }
  | { readonly kind: 'dead'; readonly words: string };

interface FoundClient {
  readonly client: ChatClient;
  readonly state: ClientState;
}

/** The settings of the chat clients that are installed here. */
export const clients: Check = {
  id: 'clients',
  category: 'clients',
  look: async (context) => {
    const { env, homeDir, platform } = context;
    const place: ClientPlace = { env, homeDir, platform, windowsHome: await windowsHome(env) };
    const installed = await installedClients(place);
    const found = await Promise.all(
      installed.map(async (client) => ({ client, state: await stateOf(client, place) })),
    );
    const details = found.map(({ client, state }) => `${client.title}: ${wordsOf(state)}`);
    return { ...findingOf(found, context), details };
  },
};

function findingOf(found: readonly FoundClient[], { command, homeDir }: DoctorContext): Finding {
  for (const { client, state } of found) {
    if (state.kind !== 'broken') continue;
    return {
      status: 'warning',
      summary: `The bridge cannot read the settings of ${client.title}`,
      remedy: { words: 'Correct the file.', command: `\${EDITOR:-vi} ${shellWord(state.path, homeDir)}` },
    };
  }
  const of = (kind: ClientState['kind']): readonly ChatClient[] =>
    found.filter(({ state }) => state.kind === kind).map(({ client }) => client);
  const dead = of('dead');
  if (dead.length > 0) {
    return {
      status: 'error',
      summary: `${titles(dead)} cannot start the bridge`,
      remedy: {
        words: 'Write the entry again.',
        command: `${command} init --yes --client ${ids(dead)}`,
      },
    };
  }
  if (of('ready').length > 0) return ok(`${titles(of('ready'))} can start the bridge`);
  if (of('mentioned').length > 0)
    return ok(`The settings of ${titles(of('mentioned'))} mention the bridge; more is not known`);
  const absent = of('absent');
  return {
    status: 'warning',
    summary: 'No chat client that was found here knows the bridge',
    remedy: {
      words: 'Add it to the clients that you use.',
      command: absent.length === 0 ? `${command} init` : `${command} init --client ${ids(absent)}`,
    },
  };
}

async function stateOf(client: ChatClient, place: ClientPlace): Promise<ClientState> {
  const path = await settingsPath(client, place);
  if (path === undefined) return { kind: 'absent' };
  try {
    const { entry, servers, text, note } = await readClientSettings(client, path);
    if (servers === undefined && text.includes(SERVER_NAME)) return mentioned(client, path);
    if (entry === undefined) return { kind: 'absent' };
    const state = await stateOfEntry(entry, path, place);
    return note === undefined || state.kind !== 'ready'
      ? state
      : { ...state, words: `${state.words}. ${note}` };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { kind: 'broken', words: error.message, path };
  }
}

/** Settings that are not JSON are read no further. */
function mentioned({ ownCommand }: ChatClient, path: string): ClientState {
  const show = ownCommand === undefined ? '' : `; ${ownCommand} get ${SERVER_NAME} shows its entry`;
  return { kind: 'mentioned', words: `${path} mentions ${SERVER_NAME}${show}` };
}

async function stateOfEntry(entry: unknown, path: string, { env }: ClientPlace): Promise<ClientState> {
  const { command, cmd, args = [] } = entrySchema.safeParse(entry).data ?? {};
  const [program = '', ...rest] = Array.isArray(command) ? command : [command ?? cmd ?? ''];
  const words = [program, ...rest, ...args];
  const said = `starts ${words.join(' ')} (${path})`;
  if (program === '') return { kind: 'dead', words: `names no program (${path})` };
  // A program of Windows, which starts the bridge in WSL.
  if (program.endsWith('.exe')) return { kind: 'ready', words: said };
  const isFound = isAbsolute(program)
    ? await isThere(program)
    : (await findOnPath(program, env['PATH'])) !== undefined;
  if (!isFound) return { kind: 'dead', words: `${said}, but ${program} was not found` };
  const file = words.slice(1).find((word) => isAbsolute(word) && /\.[cm]?js$/.test(word));
  if (file !== undefined && !(await isThere(file)))
    return { kind: 'dead', words: `${said}, but ${file} does not exist` };
  return { kind: 'ready', words: said };
}

function wordsOf(state: ClientState): string {
  return state.kind === 'absent' ? 'has no entry for the bridge' : state.words;
}

function titles(found: readonly ChatClient[]): string {
  return found.map(({ title }) => title).join(', ');
}

function ids(found: readonly ChatClient[]): string {
  return found.map(({ id }) => id).join(',');
}
