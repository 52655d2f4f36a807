import { editJson } from '../../config/jsonc-edit.js';
import { parseSettingsText } from '../../config/settings-text.js';
import { serversOf } from './servers-of.js';
import type { ServersRead, SettingsFormat } from './settings-format.js';

/** JSON with comments and trailing commas. */
export const jsonFormat: SettingsFormat = {
  servers,
  withEntry: (text, serversKey, name, entry) => editJson(text, [{ path: [serversKey, name], value: entry }]),
  withoutEntry,
  print: (serversKey, name, entry) => `${JSON.stringify({ [serversKey]: { [name]: entry } }, null, 2)}\n`,
  isEmpty: (text) => /^\s*(?:\{\s*\})?\s*$/.test(text),
};

function withoutEntry(text: string, serversKey: string, name: string): string {
  const read = servers(text, serversKey);
  const withObject = editJson(text, [{ path: [serversKey, name], value: undefined }]);
  if (read.kind === 'servers' && Object.keys(read.servers).length > 1) return withObject;
  const withoutObject = editJson(text, [{ path: [serversKey], value: undefined }]);
  // A comment in the object is the person's, and stays with it.
  return commentMarks(withoutObject) === commentMarks(withObject) ? withoutObject : withObject;
}

/** Those in strings count too: they are the same in both texts. */
function commentMarks(text: string): number {
  return text.match(/\/\/|\/\*/g)?.length ?? 0;
}

function servers(text: string, serversKey: string): ServersRead {
  if (text.trim() === '') return { kind: 'servers', servers: {} };
  const parsed = parseSettingsText(text);
  if (parsed.kind === 'errors')
    return {
      kind: 'broken',
      why: parsed.errors.map(({ line, words }) => `line ${line}: ${words}`).join('; '),
    };
  const found = parsed.entries.find(({ key }) => key === serversKey);
  return serversOf(found?.value, serversKey, `line ${found?.line ?? 1}: `);
}
