import { unlink } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { leftAsItIs, readSettings, writeSettings } from '../config/settings-on-disk.js';
import type { ChatClient, ClientPlace } from './chat-client.js';
import { formatOf } from './formats/format-of.js';
import type { Entry, SettingsFormat } from './formats/settings-format.js';
import { isThere } from './is-there.js';
import { SERVER_NAME, type ServerCommand } from './server-command.js';

/** What one client's settings file says of this server. */
export interface ClientSettings {
  readonly client: ChatClient;
  readonly path: string;
  readonly text: string;
  /** Permission bits; undefined while there is no file. */
  readonly mode: number | undefined;
  /** All servers that it names. */
  readonly servers: Entry;
  /** This server's entry, if there is one. */
  readonly entry: unknown;
}

/** What an edit did. */
export interface Edited {
  readonly path: string;
  /** The copy of the settings as they were, if there were any. */
  readonly backup?: string;
}

/** The path of the client's settings file: the first that exists, otherwise the first; undefined on a platform without this client. */
export async function settingsPath(client: ChatClient, place: ClientPlace): Promise<string | undefined> {
  const paths = client.settingsFiles(place);
  for (const path of paths) if (await isThere(path)) return path;
  return paths[0];
}

/** Throws CONFIG_ERROR for a file that cannot be read or whose servers cannot be found in it. */
export async function readClientSettings(client: ChatClient, path: string): Promise<ClientSettings> {
  const { text, mode } = await readSettings(path);
  const read = (await formatOf(client.format)).servers(text, client.serversKey);
  if (read.kind === 'broken') throw leftAsItIs(`${path}: ${read.why}`);
  const entry = Object.hasOwn(read.servers, SERVER_NAME) ? read.servers[SERVER_NAME] : undefined;
  return { client, path, text, mode, servers: read.servers, entry };
}

/** The entry as the client's settings hold it, in the client's own language. */
export async function printEntry(
  client: ChatClient,
  command: ServerCommand,
  place: ClientPlace,
): Promise<string> {
  const format = await formatOf(client.format);
  return format.print(client.serversKey, SERVER_NAME, client.entry(command, place));
}

/** True when the entry says exactly this and nothing more. */
export function isEntry(entry: unknown, expected: Entry): boolean {
  return isDeepStrictEqual(entry, expected);
}

/** Adds or replaces the entry; the old settings are saved in a copy that ends in `.bak`. Throws CONFIG_ERROR and changes nothing when the result would lose another server. */
export async function addEntry(settings: ClientSettings, entry: Entry): Promise<Edited> {
  const { client, path, text, mode } = settings;
  const format = await formatOf(client.format);
  const after = format.withEntry(text, client.serversKey, SERVER_NAME, entry);
  mustHold(settings, format, after, { ...settings.servers, [SERVER_NAME]: entry });
  const backup = `${path}.bak`;
  if (mode !== undefined) await writeSettings(backup, text, mode);
  await writeSettings(path, after, mode);
  return mode === undefined ? { path } : { path, backup };
}

/**
 * Removes the entry. A file that then says nothing and had no settings before the entry came is removed; a copy that holds
 * the same as the file, but for this server's entry, is removed too. Throws CONFIG_ERROR and changes nothing when the result would lose another server.
 */
export async function removeEntry(settings: ClientSettings): Promise<Edited> {
  const { client, path, text, mode } = settings;
  const format = await formatOf(client.format);
  const after = format.withoutEntry(text, client.serversKey, SERVER_NAME);
  const { [SERVER_NAME]: _removed, ...others } = settings.servers;
  mustHold(settings, format, after, others);
  const backup = `${path}.bak`;
  const before = await readSettings(backup);
  if (before.mode === undefined && format.isEmpty(after)) {
    await unlink(path);
    return { path };
  }
  await writeSettings(path, after, mode);
  if (before.mode === undefined) return { path };
  if (withoutOwn(format, client.serversKey, before.text) !== after) return { path, backup };
  await unlink(backup);
  return { path };
}

/** The text without this server's entry: a copy may be of the time when an entry was replaced. */
function withoutOwn(format: SettingsFormat, serversKey: string, text: string): string {
  const read = format.servers(text, serversKey);
  const isThere = read.kind === 'servers' && Object.hasOwn(read.servers, SERVER_NAME);
  return isThere ? format.withoutEntry(text, serversKey, SERVER_NAME) : text;
}

function mustHold(
  { client, path }: ClientSettings,
  format: SettingsFormat,
  text: string,
  servers: Entry,
): void {
  const read = format.servers(text, client.serversKey);
  if (read.kind === 'servers' && isDeepStrictEqual({ ...read.servers }, servers)) return;
  throw leftAsItIs(`${path}: the entry cannot be changed here without changing other entries`);
}
