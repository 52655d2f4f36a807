// The tools and the messages of the editor → their tables in the README, docs/tools.md and docs/editor-protocol.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { isForModels } from '../../src/mcp/tool.js';
import { expectation } from '../../src/mcp/argument-errors.js';
import { isObject, type JsonObject } from '../../src/mcp/json-object.js';
import { enabledTools } from '../../src/tools/registry.js';
import { toolsets } from '../../src/tools/toolsets.js';
import { table } from './small-tables.js';

const tools = enabledTools('all');
type AnyTool = (typeof tools)[number];

/** Where the fields of answers come from, by hand: a heading a toolset. */
export const fieldSources = readFileSync(join(import.meta.dirname, 'tool-fields.md'), 'utf8');

/** One row a toolset: whether it is offered unless the settings say otherwise, and its tools. */
export function toolsTable(): string {
  const offered = new Set<string>(configSchema.shape.toolsets.parse(undefined));
  const rows = Object.entries(toolsets).map(([toolset, words]) => {
    const own = tools.filter((tool) => tool.toolset === toolset && isForModels(tool));
    const names = own.map((tool) => `\`${tool.listing().name}\``).join(', ');
    return [`\`${toolset}\``, offered.has(toolset) ? 'yes' : 'no', words, names];
  });
  return table(['Toolset', 'Offered by default', 'For', 'Tools'], rows);
}

/** All tools by toolset: what each does, takes and gives. */
export function toolParts(): string {
  return Object.entries(toolsets)
    .flatMap(([toolset, words]) => {
      const own = tools.filter((tool) => tool.toolset === toolset);
      const from = `Where the fields of the answers come from:\n\n${sourcesOf(toolset)}`;
      return own.length === 0 ? [] : [`## ${toolset}`, words, from, ...own.map(toolPart)];
    })
    .join('\n\n');
}

/** Empty where nothing is said of the toolset. */
export function sourcesOf(toolset: string): string {
  const part = fieldSources.split(/^## /m).find((text) => text.startsWith(`${toolset}\n`));
  return part?.slice(toolset.length).trim() ?? '';
}

function toolPart(tool: AnyTool): string {
  const { name, description, inputSchema, outputSchema, annotations } = tool.listing();
  const effect = annotations.readOnlyHint
    ? 'read'
    : annotations.destructiveHint === true
      ? 'destroy'
      : 'write';
  const rows = fieldsOf(inputSchema).map(({ field, schema, isRequired }) => [
    `\`${field}\``,
    isRequired ? 'required' : '',
    [expectation(schema), schema['description']].filter(isText).join('. '),
  ]);
  const given = fieldsOf(outputSchema).map(({ field }) => `\`${field}\``);
  return [
    `### \`${name}\``,
    `${description} Effect: ${effect}.${noModel(tool)}`,
    table(['argument', '', 'what'], rows),
    `Gives ${given.join(', ')}.`,
  ].join('\n\n');
}

function noModel(tool: AnyTool): string {
  if (isForModels(tool)) return '';
  return ` For ${tool.forHooks === true ? 'hooks of Claude Code' : 'the page in the chat'} alone: no model sees it.`;
}

/** One row a field of each schema, whose `type` names it. */
export function fieldsTable(schemas: readonly z.ZodObject[]): string {
  const rows = schemas.flatMap((schema) => {
    const fields = fieldsOf(z.record(z.string(), z.unknown()).parse(z.toJSONSchema(schema)));
    const type = fields.find(({ field }) => field === 'type')?.schema['const'];
    const message = typeof type === 'string' ? [`\`${type}\``] : [];
    return fields
      .filter(({ field }) => field !== 'type')
      .map(({ field, schema: form, isRequired }) => [
        ...message,
        `\`${field}\``,
        isRequired ? 'required' : '',
        'const' in form ? JSON.stringify(form['const']) : formWords(form),
      ]);
  });
  const [first = []] = rows;
  return table(['message', 'field', '', 'what'].slice(4 - first.length), rows);
}

/** Without patterns, whose characters would be marks of Markdown, and without the largest integer there is. */
function formWords(form: JsonObject): string {
  const { anyOf, type } = form;
  if (type === 'null') return 'null';
  if (Array.isArray(anyOf)) return anyOf.map((one) => (isObject(one) ? formWords(one) : '')).join(', or ');
  if (Array.isArray(type)) return type.map((one: unknown) => formWords({ type: one })).join(', or ');
  return (expectation(form) ?? '').replace(/ that matches \S+| from -?\d+ to 9007199254740991/g, '');
}

function fieldsOf({ properties, required }: JsonObject): readonly Field[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([field, schema]) => ({
    field,
    schema: isObject(schema) ? schema : {},
    isRequired: needed.includes(field),
  }));
}

interface Field {
  readonly field: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
