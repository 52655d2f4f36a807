// Pure: tools and settings → the two short tables of the README.
import { configSchema, factsOf, type ConfigKey } from '../../src/config/schema.js';
import { isForModels } from '../../src/mcp/tool.js';
import type { Tool } from '../../src/mcp/tool.js';
import { toolsets, type Toolset } from '../../src/tools/toolsets.js';
import { withTable } from './table-between-markers.js';

/** The settings that people set most; docs/settings.md has all. */
const shownSettings = [
  'allowed_roots',
  'claude_command',
  'toolsets',
  'default_permission_mode',
  'rules',
  'default_timeout_seconds',
  'decision_timeout_seconds',
  'max_concurrent_tasks',
  'pass_environment',
  'sandbox_domains',
  'resume_after_limit',
] as const satisfies readonly ConfigKey[];

/** One row a toolset: whether it is offered unless the settings say otherwise, and its tools. */
export function toolsTable(
  all: readonly Pick<Tool<never, Toolset>, 'toolset' | 'listing' | 'app' | 'forHooks'>[],
): string {
  const offered = new Set<string>(configSchema.shape.toolsets.parse(undefined));
  const rows = Object.entries(toolsets).map(([toolset, words]) => {
    const names = all
      .filter((tool) => tool.toolset === toolset && isForModels(tool))
      .map((tool) => tool.listing().name);
    const tools = names.map((name) => `\`${name}\``).join(', ');
    return `| \`${toolset}\` | ${offered.has(toolset) ? 'yes' : 'no'} | ${words} | ${tools} |`;
  });
  return ['| Toolset | Offered by default | For | Tools |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

export function settingsTable(): string {
  const rows = shownSettings.map((key) => {
    const [words = ''] = (configSchema.shape[key].description ?? '').split(/(?<=\.) /);
    const value = JSON.stringify(configSchema.shape[key].parse(undefined)).replaceAll(',"', ', "');
    return `| [\`${key}\`](docs/settings.md#${key}) | \`${factsOf(key).env}\` | \`${value}\` | ${words.replaceAll('|', '\\|')} |`;
  });
  return ['| Setting | Variable | Default | What it sets |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The README with both tables renewed. Throws when it has no markers. */
export function withReadmeTables(
  page: string,
  { tools, settings }: { readonly tools: string; readonly settings: string },
): string {
  return withTable(withTable(page, 'tools', tools), 'settings', settings);
}
