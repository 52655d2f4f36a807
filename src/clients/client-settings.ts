import { unlink } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { BridgeError, messageOf } from '../base/errors.js';
import { MAX_SETTINGS_BYTES } from '../base/files/regular-file.js';
import { editJson, readJsonText, splitByteOrderMark } from '../config/json-text.js';
import { leftAsItIs, readSettings, writeSettings } from '../config/settings-file.js';
import { dialectOf, type ChatClient, type ClientPlace, type Dialect, type Entry } from './chat-client.js';
import { isThere } from './find-clients.js';
import { SERVER_NAME } from './server-command.js';

const objectSchema = z.record(z.string(), z.unknown());

/** What one client's settings file says of this server. */
export interface ClientSettings {
  readonly client: ChatClient;
  readonly path: string;
  readonly text: string;
  /** Permission bits; undefined while there is no file. */
  readonly mode: number | undefined;
  /** All servers that it names; undefined for settings that are not JSON, which are not read further. */
  readonly servers: Entry | undefined;
  /** This server's entry, if there is one. */
  readonly entry: unknown;
  /** What is not known about them. */
  readonly note?: string;
}

/** The path of the client's settings file: the first that exists, otherwise the first; undefined on a platform without this client. */
export async function settingsPath(client: ChatClient, place: ClientPlace): Promise<string | undefined> {
  const paths = client.settingsFiles(place);
  for (const path of paths) if (await isThere(path)) return path;
  return paths[0];
}

/** Throws CONFIG_ERROR for a file that cannot be read, or that the client itself cannot read. */
export async function readClientSettings(client: ChatClient, path: string): Promise<ClientSettings> {
  const { text, mode } = await readSettings(path, MAX_SETTINGS_BYTES);
  const dialect = dialectOf(client);
  if (dialect === undefined) return { client, path, text, mode, servers: undefined, entry: undefined };
  const { servers, isPlain } = partsOf(text, client, path);
  const entry = Object.hasOwn(servers, SERVER_NAME) ? servers[SERVER_NAME] : undefined;
  const note = `${path} has comments or commas before closing brackets; whether ${client.title} reads those is not known.`;
  return { client, path, text, mode, servers, entry, ...(dialect === 'unknown' && !isPlain ? { note } : {}) };
}

/** The settings with the entry added or replaced. Throws CONFIG_ERROR when that is not possible without another change. */
export function withEntry(settings: ClientSettings, entry: Entry): string {
  const { client, servers } = settings;
  const edit = { path: [client.serversKey, SERVER_NAME], value: entry };
  return edited(settings, { ...servers, [SERVER_NAME]: entry }, (text) => editJson(text, [edit]));
}

/**
 * Adds or replaces the entry. The settings as they were before this server's first entry are saved in a copy beside the file,
 * whose path is returned. Throws CONFIG_ERROR and changes nothing when anything else would change.
 */
export async function addEntry(settings: ClientSettings, entry: Entry): Promise<string | undefined> {
  const { path, text, mode } = settings;
  const after = withEntry(settings, entry);
  const backup = backupOf(path);
  if (mode !== undefined && (settings.entry === undefined || !(await isThere(backup))))
    await writeSettings(backup, text, mode);
  await writeSettings(path, after, mode);
  return mode === undefined ? undefined : backup;
}

/**
 * Removes the entry. Where nothing else has changed since it was added, the file is again the copy, byte for byte, and the copy is
 * removed; a file that then says nothing and was not there before is removed. Returns the copy if it stays. Throws CONFIG_ERROR and changes
 * nothing when anything else would change.
 */
export async function removeEntry(settings: ClientSettings): Promise<string | undefined> {
  const { client, path, text, mode, servers = {}, entry } = settings;
  const backup = backupOf(path);
  const before = await readSettings(backup, MAX_SETTINGS_BYTES);
  const { [SERVER_NAME]: _removed, ...others } = servers;
  const place = [client.serversKey, SERVER_NAME];
  const isRestored =
    before.mode !== undefined && editJson(before.text, [{ path: place, value: entry }]) === text;
  const gone = Object.keys(others).length === 0 && before.mode === undefined ? [client.serversKey] : place;
  const after = isRestored
    ? before.text
    : edited(settings, others, (whole) => editJson(whole, [{ path: gone, value: undefined }]));
  if (before.mode === undefined && /^\uFEFF?\s*(?:\{\s*\})?\s*$/.test(after)) await unlink(path);
  else await writeSettings(path, after, mode);
  if (before.mode === undefined) return undefined;
  if (!isRestored) return backup;
  await unlink(backup);
  return undefined;
}

/** The copy of a settings file as it was. Its name is of this program alone: other copies of the person stay. */
export function backupOf(path: string): string {
  return `${path}.${SERVER_NAME}.bak`;
}

/** What a settings file says: the servers that it names, all else, and whether it is JSON alone. */
interface Parts {
  readonly servers: Entry;
  readonly others: Entry;
  readonly isPlain: boolean;
}

/** What each dialect is, where the client refuses more than that. */
const readings: Readonly<Record<Dialect, string>> = {
  json: 'JSON without comments and commas before closing brackets',
  comments: 'JSON without commas before closing brackets, and without a byte order mark',
  jsonc: '',
  unknown: '',
};

/** Throws CONFIG_ERROR with the line for a text that the client does not read. */
function partsOf(text: string, client: ChatClient, path: string): Parts {
  const { title, serversKey } = client;
  const dialect = dialectOf(client) ?? 'jsonc';
  const { mark, json } = splitByteOrderMark(text);
  const refused = (fault: string): BridgeError =>
    leftAsItIs(
      `${path}: ${fault}.${readings[dialect] === '' ? '' : ` ${title} reads ${readings[dialect]}.`}`,
    );
  if (mark !== '' && dialect === 'comments') throw refused('line 1: a byte order mark');
  const source = json.trim() === '' ? '{}' : json;
  const plain = readJsonText(source, { comments: false, trailingCommas: false });
  const trailingCommas = dialect === 'jsonc' || dialect === 'unknown';
  const read = readJsonText(source, { comments: dialect !== 'json', trailingCommas });
  if (read.kind === 'faults') {
    const [{ line, words } = { line: 1, words: 'broken JSON' }] = read.faults;
    throw refused(`line ${line}: ${words}`);
  }
  const whole = objectSchema.safeParse(read.value);
  if (!whole.success) throw leftAsItIs(`${path}: line 1: expected a JSON object.`);
  const { [serversKey]: found, ...others } = whole.data;
  const servers = objectSchema.optional().safeParse(found);
  if (!servers.success) throw leftAsItIs(`${path}: ${serversKey}: expected an object of servers.`);
  return { servers: servers.data ?? {}, others, isPlain: plain.kind === 'value' };
}

/** The text that `edit` makes, which holds these servers and otherwise says what it said. */
function edited(settings: ClientSettings, servers: Entry, edit: (text: string) => string): string {
  const { client, path, text } = settings;
  const message = `${path}: the entry cannot be edited here without changing something else. The file was not changed.`;
  const hint = `Edit it by hand: init --print ${client.id} shows the entry.`;
  try {
    const after = edit(text);
    const [was, is] = [partsOf(text, client, path), partsOf(after, client, path)];
    if (isDeepStrictEqual({ ...is.servers }, servers) && isDeepStrictEqual(is.others, was.others))
      return after;
  } catch (error) {
    throw new BridgeError('CONFIG_ERROR', `${message} ${messageOf(error)}`, hint, { cause: error });
  }
  throw new BridgeError('CONFIG_ERROR', message, hint);
}
