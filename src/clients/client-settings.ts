import { unlink } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { parse, printParseErrorCode, visit } from 'jsonc-parser';
import { z } from 'zod';
import { BridgeError, messageOf } from '../base/errors.js';
import { MAX_SETTINGS_BYTES } from '../base/files/regular-file.js';
import { containersOn, editJson } from '../config/jsonc-edit.js';
import { leftAsItIs, readSettings, writeSettings } from '../config/settings-on-disk.js';
import { splitByteOrderMark, syntaxWords } from '../config/settings-text.js';
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
 * Removes the entry, and what its addition made around it. Where nothing else has changed since, the file is again the copy,
 * byte for byte, and the copy is removed; a file that then says nothing and was not there before is removed. Returns the copy
 * if it stays. Throws CONFIG_ERROR and changes nothing when anything else would change.
 */
export async function removeEntry(settings: ClientSettings): Promise<string | undefined> {
  const { client, path, text, mode, servers, entry } = settings;
  const backup = backupOf(path);
  const before = await readSettings(backup, MAX_SETTINGS_BYTES);
  const { [SERVER_NAME]: _removed, ...others } = servers ?? {};
  const hadServers = containersOn(splitByteOrderMark(before.text).json, [client.serversKey, '']).length > 1;
  const after = edited(settings, others, (whole) => {
    const without = editJson(whole, [{ path: [client.serversKey, SERVER_NAME], value: undefined }]);
    const { json } = splitByteOrderMark(without);
    const [, holder] = containersOn(json, [client.serversKey, '']);
    const isBare = holder !== undefined && holder.end === holder.begin + 1;
    return isBare && !hadServers
      ? editJson(without, [{ path: [client.serversKey], value: undefined }])
      : without;
  });
  if (before.mode === undefined) {
    if (/^\uFEFF?\s*(?:\{\s*\})?\s*$/.test(after)) await unlink(path);
    else await writeSettings(path, after, mode);
    return undefined;
  }
  const added = { path: [client.serversKey, SERVER_NAME], value: entry };
  const restored = editJson(before.text, [added]) === text ? before.text : after;
  await writeSettings(path, restored, mode);
  if (restored !== before.text) return backup;
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

/** Throws CONFIG_ERROR with the line for a text that the client does not read. */
function partsOf(text: string, client: ChatClient, path: string): Parts {
  const { title, serversKey } = client;
  const read =
    text.trim() === '' ? { value: {}, isPlain: true } : readJson(text, dialectOf(client) ?? 'jsonc');
  if ('fault' in read)
    throw leftAsItIs(`${path}: ${read.fault}.${read.reads === '' ? '' : ` ${title} reads ${read.reads}.`}`);
  const whole = objectSchema.safeParse(read.value);
  if (!whole.success) throw leftAsItIs(`${path}: line 1: expected a JSON object.`);
  const { [serversKey]: found, ...others } = whole.data;
  const servers = objectSchema.nullish().safeParse(found);
  if (!servers.success) throw leftAsItIs(`${path}: ${serversKey}: expected an object of servers.`);
  return { servers: servers.data ?? {}, others, isPlain: read.isPlain };
}

/** What each dialect is, where the client refuses more than that. */
const readings: Readonly<Record<Dialect, string>> = {
  json: 'JSON without comments and commas before closing brackets',
  comments: 'JSON without commas before closing brackets, and without a byte order mark',
  jsonc: '',
  unknown: '',
};

/** The value of the text, or its first fault in that dialect with the line. */
function readJson(
  text: string,
  dialect: Dialect,
):
  | { readonly value: unknown; readonly isPlain: boolean }
  | { readonly fault: string; readonly reads: string } {
  const { mark, json } = splitByteOrderMark(text);
  const reads = readings[dialect];
  if (mark !== '' && dialect === 'comments') return { fault: 'line 1: a byte order mark', reads };
  try {
    return { value: JSON.parse(json), isPlain: true };
  } catch {
    // It may be one with comments; otherwise its fault is named.
  }
  const allowTrailingComma = dialect === 'jsonc' || dialect === 'unknown';
  let fault: string | undefined;
  const onError = (code: number, _at: number, _length: number, line: number, character: number): void => {
    fault ??= `line ${line + 1}: column ${character + 1}: broken JSON: ${syntaxWords(printParseErrorCode(code))}`;
  };
  try {
    visit(json, { onError }, { disallowComments: dialect === 'json', allowTrailingComma });
    return fault === undefined
      ? { value: parse(json, [], { allowTrailingComma }), isPlain: false }
      : { fault, reads };
  } catch (error) {
    // The parser calls itself for each bracket.
    if (!(error instanceof RangeError)) throw error;
    return { fault: 'line 1: the JSON is nested too deeply', reads };
  }
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
