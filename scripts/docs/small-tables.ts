// Pure: lists and tables of clients, versions, error codes and layers.
import { errorCodes } from '../../src/base/errors.js';
import { testedVersions } from '../../src/claude/tested-versions.js';
import { chatClients } from '../../src/clients/chat-clients.js';
import type { ClientPlace } from '../../src/clients/chat-client.js';
import { areas, layers, soleImporters } from '../../tests/architecture/layers.js';
import { readSeen, type Feature } from '../../tests/long/clients/seen.js';

const linux: ClientPlace = { platform: 'linux', homeDir: '~', env: {} };
const macos: ClientPlace = { ...linux, platform: 'darwin' };
/** The columns of docs/clients.md. */
const seenColumns: readonly (readonly [Feature, string])[] = [
  ['init', 'set up by'],
  ['tools', 'tools'],
  ['delegation', 'a whole delegation'],
  ['calledBack', 'is called back'],
  ['resources', 'resources'],
  ['prompts', 'prompts'],
];

/** A table of Markdown; `|` in a cell is escaped. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [heads, heads.map(() => '---'), ...rows].map(row).join('\n');
}

export function errorsList(): string {
  const sorted = Object.entries(errorCodes).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([code, sentence]) => `- \`${code}\`: ${sentence}`).join('\n');
}

/** One item a client: where its settings are on Linux and macOS. */
export function clientsList(): string {
  const items = chatClients.map(({ id, settingsFiles, source }) => {
    const [onLinux = ''] = settingsFiles(linux);
    const [onMacos = ''] = settingsFiles(macos);
    const files = onLinux === onMacos ? `\`${onLinux}\`` : `\`${onLinux}\`; macOS: \`${onMacos}\``;
    return `- [\`${id}\`](${source}): ${files}`;
  });
  return items.join('\n');
}

/** The tested versions of Claude Code, newest first. */
export function versionsList(): string {
  const items = testedVersions.map(
    ({ version, ran, differs }) => `- **${version}**: ${ran}. What differs: ${differs}.`,
  );
  return items.toReversed().join('\n');
}

/** The clients that were run, by title and version: what works in each. */
export function seenClientsTable(): string {
  const rows = seenClients().map(({ title, version, date, works }) => [
    title,
    version,
    ...seenColumns.map(([feature]) => works[feature] ?? '—'),
    date,
  ]);
  return table(['client', 'version', ...seenColumns.map(([, head]) => head), 'seen on'], rows);
}

export function lacksOfClients(): string {
  return seenClients()
    .filter(({ lacks }) => lacks.length > 0)
    .map(({ title, version, lacks }) => `- ${title} ${version}: ${lacks.join(' ')}`)
    .join('\n');
}

function seenClients() {
  const key = ({ title, version }: { readonly title: string; readonly version: string }): string =>
    `${title.replaceAll('`', '')} ${version}`;
  return Object.values(readSeen()).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

export function layersTable(): string {
  const rows = [...layers, ...areas].map(({ folder, holds, imports, ceiling }) => {
    const allowed = typeof imports === 'string' ? imports : imports.join(', ');
    return [code(folder), holds, allowed, String(ceiling)];
  });
  const globals = layers.map(({ folder, globals: modules = [] }) => ({ modules, folders: [folder] }));
  const alone = [...globals, ...soleImporters].flatMap(({ modules, folders }) => {
    const names = modules.map((name) => code(name.replace(/(?<!\/)\*$/, '')));
    return names.length === 0 ? [] : [`${names.join(', ')} by ${folders.map(code).join(', ')}`];
  });
  return `${table(['Folder', 'Holds', 'May import', 'Lines at most'], rows)}\n\nSome folders alone use: ${alone.join('; ')}.`;
}

function code(text: string): string {
  return `\`${text}\``;
}
