// Every page, or part of a page, that is made from something else: `npm run docs` renews them by tests/docs/generated.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, getFileInfo, resolveConfig } from 'prettier';
import { editorWindowSchema } from '../../src/editor/discovery.js';
import { editorMessageSchema, editorRequestSchema } from '../../src/editor/protocol.js';
import { skillText } from '../../src/resources/skill-text.js';
import { settingsList, settingsSections } from './settings-tables.js';
import {
  clientsList,
  errorsList,
  lacksOfClients,
  layersTable,
  seenClientsTable,
  versionsList,
} from './small-tables.js';
import { fieldsList, toolParts, toolsetsList } from './tool-tables.js';

const root = join(import.meta.dirname, '..', '..');

/** What stands between two markers of a page, by the name in them: `<!-- name: generated from … -->` and `<!-- end of name -->`. */
const parts: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': { tools: toolsetsList, settings: settingsList },
  'docs/architecture.md': { layers: layersTable },
  'docs/clients.md': { clients: seenClientsTable, lacks: lacksOfClients },
  'docs/editor-protocol.md': {
    window: () => fieldsList([editorWindowSchema]),
    requests: () => fieldsList(editorRequestSchema.options),
    messages: () => fieldsList(editorMessageSchema.options),
  },
  'docs/errors.md': { errors: errorsList },
  'docs/guide.md': { clients: clientsList, versions: versionsList },
  'docs/settings.md': { settings: settingsSections },
  'docs/tools.md': { tools: toolParts },
};
/** Files that are generated as a whole. */
const whole: Readonly<Record<string, () => string>> = {
  'plugins/code-bridge/skills/delegate/SKILL.md': () =>
    skillText.replace('name: claude-code-bridge', 'name: delegate'),
};

export const generatedPages: readonly string[] = [...Object.keys(parts), ...Object.keys(whole)];

/** The page as it has to be, formatted unless `.prettierignore` names it. Throws when it lacks the markers of a part. */
export async function generatedPage(page: string): Promise<string> {
  const path = join(root, page);
  const all = whole[page];
  if (all !== undefined) return all();
  let text = readFileSync(path, 'utf8');
  for (const [name, part] of Object.entries(parts[page] ?? {})) text = withPart(text, name, part());
  const { ignored } = await getFileInfo(path, { ignorePath: join(root, '.prettierignore') });
  return ignored ? text : format(text, { ...(await resolveConfig(path)), filepath: path });
}

/** The page with the part between its two markers renewed. Throws when the page has no such markers. */
export function withPart(page: string, name: string, part: string): string {
  const begin = new RegExp(`<!-- ${name}: generated from .+ by \`npm run docs\` -->`).exec(page)?.[0];
  const end = `<!-- end of ${name} -->`;
  const [before, rest] = begin === undefined ? [] : page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`The page has no markers of the part "${name}".`);
  return `${before}${begin}\n\n${part.trim()}\n\n${end}${after}`;
}
