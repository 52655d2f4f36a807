import { editJson } from '../../config/jsonc-edit.js';
import { parseSettingsText } from '../../config/settings-text.js';
import { serversOf } from './servers-of.js';
import type { Entry, ServersRead, SettingsFormat } from './settings-format.js';

/** JSON with comments and trailing commas. */
export const jsonFormat: SettingsFormat = {
  servers,
  withEntry,
  withoutEntry,
  print: (serversKey, name, entry) => `${JSON.stringify({ [serversKey]: { [name]: entry } }, null, 2)}\n`,
  isEmpty: (text) => /^\s*(?:\{\s*\})?\s*$/.test(text),
};

function servers(text: string, serversKey: string): ServersRead {
  if (text.trim() === '') return { kind: 'servers', servers: {}, rest: {} };
  const parsed = parseSettingsText(text);
  if (parsed.kind === 'errors')
    return {
      kind: 'broken',
      why: parsed.errors.map(({ line, words }) => `line ${line}: ${words}`).join('; '),
    };
  const line = parsed.entries.find(({ key }) => key === serversKey)?.line ?? 1;
  const whole = Object.fromEntries(parsed.entries.map(({ key, value }) => [key, value]));
  return serversOf(whole, serversKey, `line ${line}: `);
}

function withEntry(text: string, serversKey: string, name: string, entry: Entry): string {
  const isNull = valueAt(text, serversKey) === null;
  return isNull
    ? editJson(text, [{ path: [serversKey], value: { [name]: entry } }])
    : editJson(text, [{ path: [serversKey, name], value: entry }]);
}

function withoutEntry(text: string, serversKey: string, name: string): string {
  const read = servers(text, serversKey);
  const withObject = editJson(text, [{ path: [serversKey, name], value: undefined }]);
  if (read.kind === 'servers' && Object.keys(read.servers).length > 1) return withObject;
  const withoutObject = editJson(text, [{ path: [serversKey], value: undefined }]);
  // A comment in the object is the person's, and stays with it.
  return commentMarks(withoutObject) === commentMarks(withObject) ? withoutObject : withObject;
}

function valueAt(text: string, key: string): unknown {
  const parsed = parseSettingsText(text);
  return parsed.kind === 'entries' ? parsed.entries.find((entry) => entry.key === key)?.value : undefined;
}

/** Those in strings count too: they are the same in both texts. */
function commentMarks(text: string): number {
  return text.match(/\/\/|\/\*/g)?.length ?? 0;
}
