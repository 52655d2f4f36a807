import { unlink } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { leftAsItIs, readSettings, writeSettings } from '../config/settings-on-disk.js';
import type { ChatClient, ClientPlace } from './chat-client.js';
import { formatOf } from './formats/format-of.js';
import type { Entry, SettingsFormat } from './formats/settings-format.js';
import { isThere } from './is-there.js';
import { SERVER_NAME, type ServerCommand } from './server-command.js';

const entrySchema = z.record(z.string(), z.unknown());

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

/** Adds or replaces the entry; the old settings are saved in a copy beside the file. Throws CONFIG_ERROR and changes nothing when anything else would change. */
export async function addEntry(settings: ClientSettings, entry: Entry): Promise<Edited> {
  const { client, path, text, mode } = settings;
  const format = await formatOf(client.format);
  const backup = backupOf(path);
  const before = await readSettings(backup);
  // A copy of the time before this server's first entry stays, and takes the new one.
  const isKept = before.mode !== undefined && isAllThatChanged(settings, format, before.text);
  const after = edited(settings, format, { ...settings.servers, [SERVER_NAME]: entry }, () =>
    format.withEntry(isKept ? before.text : text, client.serversKey, SERVER_NAME, entry),
  );
  if (mode !== undefined && !isKept) await writeSettings(backup, text, mode);
  await writeSettings(path, after, mode);
  return mode === undefined ? { path } : { path, backup };
}

/**
 * Removes the entry. Where nothing else has changed since it was added, the copy is restored, byte for byte; a file that then
 * says nothing and was not there before is removed. Throws CONFIG_ERROR and changes nothing when anything else would change.
 */
export async function removeEntry(settings: ClientSettings): Promise<Edited> {
  const { client, path, text, mode } = settings;
  const format = await formatOf(client.format);
  const { [SERVER_NAME]: _removed, ...others } = settings.servers;
  const after = edited(settings, format, others, () =>
    format.withoutEntry(text, client.serversKey, SERVER_NAME),
  );
  const backup = backupOf(path);
  const before = await readSettings(backup);
  if (before.mode === undefined) {
    if (format.isEmpty(after)) await unlink(path);
    else await writeSettings(path, after, mode);
    return { path };
  }
  const isRestored = isAllThatChanged(settings, format, before.text);
  await writeSettings(path, isRestored ? before.text : after, mode);
  if (!isRestored) return { path, backup };
  await unlink(backup);
  return { path };
}

/** The copy of a settings file as it was. Its name is of this program alone: other copies of the person stay. */
export function backupOf(path: string): string {
  return `${path}.${SERVER_NAME}.bak`;
}

/** Whether the settings are those of `before`, which has no entry of this server, with the entry added. */
function isAllThatChanged(
  { client, text, entry }: ClientSettings,
  format: SettingsFormat,
  before: string,
): boolean {
  const read = format.servers(before, client.serversKey);
  if (read.kind === 'broken' || Object.hasOwn(read.servers, SERVER_NAME)) return false;
  const added = entrySchema.safeParse(entry);
  return added.success && format.withEntry(before, client.serversKey, SERVER_NAME, added.data) === text;
}

/** The text that `edit` makes, which holds these servers and otherwise says what it said before. */
function edited(
  { client, path, text }: ClientSettings,
  format: SettingsFormat,
  servers: Entry,
  edit: () => string,
): string {
  try {
    const after = edit();
    const [was, is] = [text, after].map((one) => format.servers(one, client.serversKey));
    const isRight =
      was?.kind === 'servers' &&
      is?.kind === 'servers' &&
      isDeepStrictEqual(is.rest, was.rest) &&
      isDeepStrictEqual({ ...is.servers }, servers);
    if (isRight) return after;
  } catch (error) {
    throw notEditable(client, path, error);
  }
  throw notEditable(client, path);
}

function notEditable({ id }: ChatClient, path: string, cause?: unknown): BridgeError {
  const message = `${path}: the entry cannot be edited here without changing something else. The file was not changed.`;
  return new BridgeError('CONFIG_ERROR', message, `Edit it by hand: init --print ${id} shows the entry.`, {
    cause,
  });
}
