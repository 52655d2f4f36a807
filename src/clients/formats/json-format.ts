import { editJson } from '../../config/jsonc-edit.js';
import { parseSettingsText } from '../../config/settings-text.js';
import { serversOf } from './servers-of.js';
import type { ServersRead, SettingsFormat } from './settings-format.js';

/** JSON with comments and trailing commas. */
export const jsonFormat: SettingsFormat = {
  servers,
  withEntry: (text, serversKey, name, entry) => editJson(text, [{ path: [serversKey, name], value: entry }]),
  withoutEntry: (text, serversKey, name) => {
    const read = servers(text, serversKey);
    const isLast = read.kind === 'servers' && Object.keys(read.servers).length === 1;
    return editJson(text, [{ path: isLast ? [serversKey] : [serversKey, name], value: undefined }]);
  },
  print: (serversKey, name, entry) => `${JSON.stringify({ [serversKey]: { [name]: entry } }, null, 2)}\n`,
  isEmpty: (text) => /^\s*(?:\{\s*\})?\s*$/.test(text),
};

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
