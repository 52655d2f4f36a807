// The tools and the messages of the editor → their lists in the README, docs/tools.md and docs/editor-protocol.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { isForModels } from '../../src/mcp/tool.js';
import { expectation } from '../../src/mcp/schema.js';
import { isObject, type JsonObject } from '../../src/mcp/answers.js';
import { enabledTools } from '../../src/tools/registry.js';
import { toolsets } from '../../src/tools/toolsets.js';

/** Of an id; the page says it once. */
const ID_WORDS = 'a string of 1 to 128 characters';
/** Shorter blocks are shown again. */
const LEAST_REPEATED = 80;

const tools = enabledTools('all');
type AnyTool = (typeof tools)[number];

/** Where the fields of answers come from, by hand: a heading a toolset. */
export const fieldSources = readFileSync(join(import.meta.dirname, 'tool-fields.md'), 'utf8');

/** One item a toolset, those that are offered by default first; its tools are in docs/tools.md. */
export function toolsetsList(): string {
  const offered = new Set<string>(configSchema.shape.toolsets.parse(undefined));
  const items = (isOffered: boolean): string =>
    Object.entries(toolsets)
      .filter(([toolset]) => offered.has(toolset) === isOffered)
      .map(([toolset, words]) => `- [\`${toolset}\`](docs/tools.md#${toolset}): ${words}`)
      .join('\n');
  return `Offered by default:\n\n${items(true)}\n\nOffered when [\`toolsets\`](docs/settings.md#toolsets) names them:\n\n${items(false)}`;
}

/** All tools by toolset: what each does, takes and gives; what several tools take or give alike is said once. */
export function toolParts(): string {
  return Object.entries(toolsets)
    .flatMap(([toolset, words]) => {
      const own = tools.filter((tool) => tool.toolset === toolset);
      if (own.length === 0) return [];
      const shared = sharedArguments(own);
      const from = `Where the fields of the answers come from:\n\n${sourcesOf(toolset)}`;
      const items = [...shared].map(([field, about]) => `- \`${field}\`: ${about}`);
      const taken = items.length === 0 ? [] : [`What several tools take:\n\n${items.join('\n')}`];
      const firsts = new Map<string, string>();
      return [`## ${toolset}`, words, from, ...taken, ...own.map((tool) => toolPart(tool, shared, firsts))];
    })
    .join('\n\n');
}

/** The arguments that two tools or more take, and say the same of. */
function sharedArguments(own: readonly AnyTool[]): ReadonlyMap<string, string> {
  const all = own
    .flatMap((tool) => fieldsOf(tool.listing.inputSchema))
    .map((field) => [field.field, aboutOf(field)]);
  const alike = (field = '', about = ''): number => all.filter(([f, a]) => f === field && a === about).length;
  const found = all.filter(([field, about]) => about !== '' && alike(field, about) > 1);
  return new Map(found.map(([field = '', about = '']) => [field, about]));
}

/** Empty where nothing is said of the toolset. */
export function sourcesOf(toolset: string): string {
  const part = fieldSources.split(/^## /m).find((text) => text.startsWith(`${toolset}\n`));
  return part?.slice(toolset.length).trim() ?? '';
}

/** `firsts` has what the tools before take and give, with the tool that is the first to do so. */
function toolPart(tool: AnyTool, shared: ReadonlyMap<string, string>, firsts: Map<string, string>): string {
  const { name, description, inputSchema, outputSchema, annotations } = tool.listing;
  const effect = annotations.readOnlyHint
    ? 'read'
    : annotations.destructiveHint === true
      ? 'destroy'
      : 'write';
  const once = (words: string, ofOther: string): string => {
    const before = firsts.get(words);
    if (before === undefined) firsts.set(words, name);
    return before === undefined || words.length < LEAST_REPEATED ? words : `${ofOther} of \`${before}\``;
  };
  const taken = fieldsOf(inputSchema);
  const names = taken.map(({ field, isRequired }) => `\`${field}\`${isRequired ? '' : '?'}`).join(', ');
  const takes = once(names, 'the arguments');
  const gives = once(fieldNames(outputSchema), 'the fields');
  const own = taken.filter((field) => aboutOf(field) !== (shared.get(field.field) ?? ''));
  return [
    `### \`${name}\``,
    `${description} Effect: ${effect}.${noModel(tool)}`,
    `${names === '' ? '' : `Takes ${takes}. `}Gives ${gives}.`,
    takes === names ? own.map((field) => `- \`${field.field}\`: ${aboutOf(field)}`).join('\n') : '',
  ]
    .filter(isText)
    .join('\n\n');
}

function fieldNames(schema: JsonObject): string {
  return fieldsOf(schema)
    .map(({ field }) => `\`${field}\``)
    .join(', ');
}

/** What an argument must be, and its words; empty for a text of which nothing is said. */
function aboutOf({ schema }: Field): string {
  return [expectation(schema), schema['description']]
    .filter(isText)
    .filter((words) => words !== 'a string')
    .join('. ');
}

function noModel(tool: AnyTool): string {
  if (isForModels(tool)) return '';
  return ` For ${tool.forHooks === true ? 'hooks of Claude Code' : 'the page in the chat'} alone: no model sees it.`;
}

/** One item a schema whose `type` names it, else one a field; `?` marks what may be missing, and strings have no words. */
export function fieldsList(schemas: readonly z.ZodObject[]): string {
  const items = schemas.flatMap((schema) => {
    const fields = fieldsOf(z.record(z.string(), z.unknown()).parse(z.toJSONSchema(schema)));
    const type = fields.find(({ field }) => field === 'type')?.schema['const'];
    const shown = fields.filter(({ field }) => field !== 'type').map(fieldWords);
    return typeof type === 'string' ? [`\`${type}\`: ${shown.join(', ')}`] : shown;
  });
  return items.map((item) => `- ${item}`).join('\n');
}

function fieldWords({ field, schema, isRequired }: Field): string {
  const words = 'const' in schema ? JSON.stringify(schema['const']) : formWords(schema);
  return `\`${field}\`${isRequired ? '' : '?'}${words === 'a string' || words === ID_WORDS ? '' : ` (${words})`}`;
}

/** Without patterns, whose characters would be marks of Markdown, and without the largest integer there is. */
function formWords(form: JsonObject): string {
  const { anyOf, type } = form;
  if (type === 'null') return 'null';
  if (Array.isArray(anyOf)) return anyOf.map((one) => (isObject(one) ? formWords(one) : '')).join(', or ');
  if (Array.isArray(type)) return type.map((one: unknown) => formWords({ type: one })).join(', or ');
  return (expectation(form) ?? '').replace(/ that matches .+$| from -?\d+ to 9007199254740991/g, '');
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
