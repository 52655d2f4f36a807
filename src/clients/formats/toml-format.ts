import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify, TomlFormat } from '@decimalturn/toml-patch';
import { z } from 'zod';
import { messageOf } from '../../base/errors.js';
import { plain } from './plain.js';
import { serversOf } from './servers-of.js';
import type { Entry, ServersRead, SettingsFormat } from './settings-format.js';
import { withoutTables } from './toml-tables.js';

type Table = Readonly<Record<string, unknown>>;
const tableSchema = z.record(z.string(), z.unknown());

export const tomlFormat: SettingsFormat = {
  servers,
  withEntry,
  withoutEntry,
  print,
  isEmpty: (text) => text.trim() === '',
};

function servers(text: string, serversKey: string): ServersRead {
  let whole: Table;
  try {
    whole = tableOf(text);
  } catch (error) {
    return { kind: 'broken', why: `broken TOML: ${messageOf(error)}` };
  }
  return serversOf(whole, serversKey);
}

/** A table of its own at the end, as a person writes it; where the servers are one inline table, a key in that. */
function withEntry(text: string, serversKey: string, name: string, entry: Entry): string {
  const before = tableOf(text);
  const known = tableSchema.parse(before[serversKey] ?? {});
  if (Object.hasOwn(known, name))
    return withEntry(withoutEntry(text, serversKey, name), serversKey, name, entry);
  const after = { ...before, [serversKey]: { ...known, [name]: entry } };
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  const appended = text + gap + print(serversKey, name, entry).replaceAll('\n', eol);
  return says(appended, after) ? appended : patched(text, after);
}

function withoutEntry(text: string, serversKey: string, name: string): string {
  const { [serversKey]: found, ...others } = tableOf(text);
  const { [name]: _removed, ...known } = tableSchema.parse(found);
  const isLast = Object.keys(known).length === 0;
  const after = { ...others, [serversKey]: known };
  const cut = withoutTables(text, serversKey, name);
  if (says(cut, after) || (isLast && says(cut, others))) return cut;
  const withTable = patched(text, after);
  if (!isLast) return withTable;
  const withoutTable = patched(text, others);
  // A comment at the table is the person's, and stays with it.
  return countOf('#', withoutTable) === countOf('#', withTable) ? withoutTable : withTable;
}

function print(serversKey: string, name: string, entry: Entry): string {
  const lines = Object.entries(entry).map(([key, value]) => stringify({ [key]: value }).trim());
  return [`[${serversKey}.${name}]`, ...lines, ''].join('\n');
}

/** TOML 1.0, which all clients read, has no comma at the end of an inline table. */
function patched(text: string, after: Table): string {
  const format = TomlFormat.autoDetectFormat(text);
  format.trailingComma = false;
  return patch(text, after, format);
}

function tableOf(text: string): Table {
  return tableSchema.parse(parse(text));
}

/** Whether it is TOML that says exactly this. */
function says(text: string, table: Table): boolean {
  try {
    return isDeepStrictEqual(plain(tableOf(text)), plain(table));
  } catch {
    // The servers cannot be extended by a table.
    return false;
  }
}

function countOf(character: string, text: string): number {
  return text.split(character).length - 1;
}
