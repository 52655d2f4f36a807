// Pure: tools → docs/tools.md.
import { isObject, type JsonObject } from '../../src/mcp/json-object.js';
import { isForModels } from '../../src/mcp/tool.js';
import type { Tool } from '../../src/mcp/tool.js';
import { expectation } from '../../src/mcp/argument-errors.js';
import { toolsets, type Toolset } from '../../src/tools/toolsets.js';

/** The page of all tools, by toolset: what each does, takes and gives. `sources`: where fields come from, a heading a toolset. */
export function toolsPage(
  tools: readonly Pick<Tool<never, Toolset>, 'toolset' | 'listing' | 'app'>[],
  sources: string,
): string {
  const parts = Object.entries(toolsets).flatMap(([toolset, words]) => {
    const own = tools.filter((tool) => tool.toolset === toolset);
    if (own.length === 0) return [];
    const from = `Where the fields of the answers come from:\n\n${sourcesOf(toolset, sources)}\n`;
    return [`## ${toolset}\n\n${words}\n\n${from}\n${own.map(toolPart).join('\n')}`];
  });
  return `# Tools\n\nGenerated from the tools by \`npm run docs\`; do not edit.\n\n${parts.join('\n')}`;
}

/** Empty where nothing is said of the toolset. */
export function sourcesOf(toolset: string, sources: string): string {
  const part = sources.split(/^## /m).find((text) => text.startsWith(`${toolset}\n`));
  return part?.slice(toolset.length).trim() ?? '';
}

function toolPart(tool: Pick<Tool<never, Toolset>, 'listing' | 'app'>): string {
  const { name, description, inputSchema, outputSchema, annotations } = tool.listing();
  const effect = annotations.readOnlyHint
    ? 'read'
    : annotations.destructiveHint === true
      ? 'destroy'
      : 'write';
  return [
    `### \`${name}\``,
    '',
    `${description} Effect: ${effect}.${noModel(tool)}`,
    '',
    '| argument | | what |',
    '| --- | --- | --- |',
    ...fieldsOf(inputSchema).map(([field, schema, required]) =>
      row(
        `\`${field}\``,
        required ? 'required' : '',
        [expectation(schema), schema['description']].filter(isText).join('. '),
      ),
    ),
    '',
    `Gives ${fieldsOf(outputSchema)
      .map(([field]) => `\`${field}\``)
      .join(', ')}.`,
    '',
  ].join('\n');
}

function fieldsOf(schema: JsonObject): [string, JsonObject, boolean][] {
  const { properties, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, field]) => [
    name,
    isObject(field) ? field : {},
    needed.includes(name),
  ]);
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function noModel(tool: Parameters<typeof isForModels>[0]): string {
  if (isForModels(tool)) return '';
  return ` For ${tool.forHooks === true ? 'hooks of Claude Code' : 'the page in the chat'} alone: no model sees it.`;
}
