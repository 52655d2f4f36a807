import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify, TomlFormat } from '@decimalturn/toml-patch';
import { z } from 'zod';
import { messageOf } from '../../base/errors.js';
import { serversOf } from './servers-of.js';
import type { Entry, ServersRead, SettingsFormat } from './settings-format.js';

const tableSchema = z.record(z.string(), z.unknown());

export const tomlFormat: SettingsFormat = { servers, withEntry, withoutEntry, print, isEmpty };

function servers(text: string, serversKey: string): ServersRead {
  try {
    return serversOf(tableOf(text)[serversKey], serversKey, '');
  } catch (error) {
    return { kind: 'broken', why: `broken TOML: ${messageOf(error)}` };
  }
}

/** A table of its own at the end, as a person writes it; where the servers are one inline table, a key in that. */
function withEntry(text: string, serversKey: string, name: string, entry: Entry): string {
  const before = tableOf(text);
  const known = tableSchema.parse(before[serversKey] ?? {});
  const after = { ...before, [serversKey]: { ...known, [name]: entry } };
  if (!Object.hasOwn(known, name)) {
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    const gap = text === '' ? '' : /(?:^|\n)$/.test(text) ? eol : eol + eol;
    const appended = text + gap + print(serversKey, name, entry).replaceAll('\n', eol);
    if (isDeepStrictEqual(plain(tableOrNone(appended)), plain(after))) return appended;
  }
  return patched(text, after);
}

function withoutEntry(text: string, serversKey: string, name: string): string {
  const { [serversKey]: found, ...others } = tableOf(text);
  const { [name]: _removed, ...known } = tableSchema.parse(found);
  const withTable = patched(text, { ...others, [serversKey]: known });
  if (Object.keys(known).length > 0) return withTable;
  const withoutTable = patched(text, others);
  // A comment at the table is the person's, and stays with it.
  return countOf('#', withoutTable) === countOf('#', withTable) ? withoutTable : withTable;
}

function countOf(character: string, text: string): number {
  return text.split(character).length - 1;
}

function print(serversKey: string, name: string, entry: Entry): string {
  const lines = Object.entries(entry).map(([key, value]) => stringify({ [key]: value }).trim());
  return [`[${serversKey}.${name}]`, ...lines, ''].join('\n');
}

function isEmpty(text: string): boolean {
  return text.trim() === '';
}

/** TOML 1.0, which all clients read, has no comma at the end of an inline table. */
function patched(text: string, after: Readonly<Record<string, unknown>>): string {
  const format = TomlFormat.autoDetectFormat(text);
  format.trailingComma = false;
  return patch(text, after, format);
}

/** Dates of TOML are objects of the parser. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function tableOf(text: string): Readonly<Record<string, unknown>> {
  return tableSchema.parse(parse(text));
}

function tableOrNone(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return tableOf(text);
  } catch {
    // The servers cannot be extended by a table.
    return undefined;
  }
}
