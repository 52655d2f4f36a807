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
  const servers = serversIn(text, { client, path });
  const entry = Object.hasOwn(servers, SERVER_NAME) ? servers[SERVER_NAME] : undefined;
  const isUnsure = dialect === 'unknown' && faultIn(text, 'json') !== undefined && text.trim() !== '';
  const note = `${path} has comments or commas before closing brackets; whether ${client.title} reads those is not known.`;
  return { client, path, text, mode, servers, entry, ...(isUnsure ? { note } : {}) };
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

/** The servers that the text names. Throws CONFIG_ERROR with the line for a text that the client does not read. */
function serversIn(
  text: string,
  { client, path }: { readonly client: ChatClient; readonly path: string },
): Entry {
  const { title, serversKey, language } = client;
  const fault = text.trim() === '' ? undefined : faultIn(text, dialectOf(client) ?? 'jsonc');
  const reads = {
    json: ' without comments and commas before closing brackets',
    comments: ' without commas before closing brackets and without a byte order mark',
  };
  if (fault !== undefined) {
    const what =
      language === 'json' || language === 'comments' ? `. ${title} reads JSON${reads[language]}` : '';
    throw leftAsItIs(`${path}: ${fault}${what}.`);
  }
  const whole = objectSchema.safeParse(text.trim() === '' ? {} : valueOf(text));
  if (!whole.success) throw leftAsItIs(`${path}: line 1: expected a JSON object.`);
  const servers = objectSchema.nullish().safeParse(whole.data[serversKey]);
  if (!servers.success) throw leftAsItIs(`${path}: ${serversKey}: expected an object of servers.`);
  return servers.data ?? {};
}

/** All that the text says besides its servers. */
function othersIn(text: string, { client }: ClientSettings): unknown {
  return { ...objectSchema.safeParse(valueOf(text)).data, [client.serversKey]: undefined };
}

function valueOf(text: string): unknown {
  return parse(splitByteOrderMark(text).json, [], { allowTrailingComma: true });
}

/** The first fault of the text in that dialect, with its line. */
function faultIn(text: string, dialect: Dialect): string | undefined {
  const { mark, json } = splitByteOrderMark(text);
  if (mark !== '' && dialect === 'comments') return 'line 1: a byte order mark';
  let fault: string | undefined;
  const options = {
    disallowComments: dialect === 'json',
    allowTrailingComma: dialect === 'jsonc' || dialect === 'unknown',
  };
  try {
    visit(
      json,
      {
        onError: (code, _offset, _length, line, character) => {
          fault ??= `line ${line + 1}: column ${character + 1}: broken JSON: ${syntaxWords(printParseErrorCode(code))}`;
        },
      },
      options,
    );
  } catch (error) {
    // The parser calls itself for each bracket.
    if (!(error instanceof RangeError)) throw error;
    return 'line 1: the JSON is nested too deeply';
  }
  return fault;
}

/** The text that `edit` makes, which holds these servers. */
function edited(settings: ClientSettings, servers: Entry, edit: (text: string) => string): string {
  const { client, path, text } = settings;
  const message = `${path}: the entry cannot be edited here without changing something else. The file was not changed.`;
  const hint = `Edit it by hand: init --print ${client.id} shows the entry.`;
  try {
    const after = edit(text);
    const isRight = isDeepStrictEqual({ ...serversIn(after, settings) }, servers);
    if (isRight && isDeepStrictEqual(othersIn(after, settings), othersIn(text, settings))) return after;
  } catch (error) {
    throw new BridgeError('CONFIG_ERROR', `${message} ${messageOf(error)}`, hint, { cause: error });
  }
  throw new BridgeError('CONFIG_ERROR', message, hint);
}
