// Pure.
import { shellWord } from '../base/text.js';
import { SERVER_NAME, type ServerCommand } from './server-command.js';

/** The machine and the user for whom clients are looked up. */
export interface ClientPlace {
  readonly platform: NodeJS.Platform;
  readonly homeDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the Windows user as Linux sees it, inside WSL. */
  readonly windowsHome?: string | undefined;
}

/**
 * What a client reads as JSON: `json` is JSON alone, `comments` has comments, `jsonc` also commas before closing brackets,
 * and `unknown` has not been tried.
 */
export type Dialect = 'json' | 'comments' | 'jsonc' | 'unknown';

/** One chat client: where its settings are, and what the server's entry in them looks like. */
export interface ChatClient {
  /** What `init --client` takes. */
  readonly id: string;
  readonly title: string;
  /** `init` edits JSON; settings in another language are changed by the person. */
  readonly language: Dialect | 'toml' | 'yaml';
  /** The key of the object that holds all servers. */
  readonly serversKey: string;
  /** The user's settings file: the first that exists, otherwise the first. None on a platform without this client. */
  readonly settingsFiles: (place: ClientPlace) => readonly string[];
  /** Folders and files one of which exists where the client is installed; else it is the folder of its settings. */
  readonly traces?: (place: ClientPlace) => readonly string[];
  /** Programs one of which is on PATH where the client is installed. */
  readonly programs: readonly string[];
  readonly entry: (command: ServerCommand, place: ClientPlace) => Entry;
  /** Its own command that changes its servers, where `init` does not edit its settings: `<command> add`, `get` and `remove`. */
  readonly ownCommand?: string;
  /** What the person does once the entry is there. */
  readonly next: string;
  /** For who edits by hand, where the settings file is not the usual way. */
  readonly byHand?: string;
  /** The page of its makers that describes the settings. */
  readonly source: string;
}

export type Entry = Readonly<Record<string, unknown>>;

/** The dialect of settings that `init` edits; undefined for those that the person changes. */
export function dialectOf({ language }: Pick<ChatClient, 'language'>): Dialect | undefined {
  return language === 'toml' || language === 'yaml' ? undefined : language;
}

/** The entry as the client's settings hold it, in the client's own language. A value of JSON is one of TOML and of YAML, too. */
export function printEntry(
  { language, serversKey, entry }: ChatClient,
  command: ServerCommand,
  place: ClientPlace,
): string {
  const values = entry(command, place);
  if (dialectOf({ language }) !== undefined)
    return JSON.stringify({ [serversKey]: { [SERVER_NAME]: values } }, null, 2);
  const pairs = Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)] as const);
  return language === 'toml'
    ? [`[${serversKey}.${SERVER_NAME}]`, ...pairs.map((pair) => pair.join(' = '))].join('\n')
    : [`${serversKey}:`, `  ${SERVER_NAME}:`, ...pairs.map((pair) => `    ${pair.join(': ')}`)].join('\n');
}

/** How a person adds the server to a client whose settings `init` does not edit. */
export function howToAdd(
  client: ChatClient,
  command: ServerCommand,
  place: ClientPlace & { readonly path: string },
): string {
  const { title, ownCommand, serversKey } = client;
  if (ownCommand === undefined)
    return `To add ${SERVER_NAME} to ${title}, put this into ${place.path}, below its ${serversKey} if it has them:\n${printEntry(client, command, place)}`;
  const words = [command.command, ...command.args].map((word) => shellWord(word, place.homeDir));
  return `To add ${SERVER_NAME} to ${title}, run:\n${ownCommand} add ${SERVER_NAME} -- ${words.join(' ')}`;
}

/** How a person takes the server out of a client whose settings `init` does not edit. */
export function howToRemove({ title, ownCommand, serversKey }: ChatClient, path: string): string {
  const how =
    ownCommand === undefined
      ? `delete ${SERVER_NAME} below ${serversKey} in ${path}`
      : `run: ${ownCommand} remove ${SERVER_NAME}`;
  return `${path} mentions ${SERVER_NAME}. To take it out of ${title}, ${how}`;
}
