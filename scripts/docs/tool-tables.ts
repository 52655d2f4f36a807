// The tools and the messages of the editor → their lists in the README, docs/tools.md and docs/editor-protocol.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { expectation } from '../../src/mcp/schema.js';
import { isObject, type JsonObject } from '../../src/mcp/answers.js';
import { enabledTools } from '../../src/tools/registry.js';
import { toolsets } from '../../src/tools/toolsets.js';

/** Of an id; the page says it once. */
const ID_WORDS = 'a string of 1 to 128 characters';
/** Shorter blocks are shown again. */
const LEAST_REPEATED = 40;

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

/** What the page says of the fields that mean the same in each toolset. */
export const EVERY_TOOLSET = 'every toolset';

/** All tools by toolset: what each does, takes and gives; what several tools take or give alike is said once. */
export function toolParts(): string {
  const parts = Object.keys(toolsets).flatMap((toolset) => {
    const own = tools.filter((tool) => tool.toolset === toolset);
    const shared = sharedArguments(own.filter(({ caller }) => caller === undefined));
    const items = [...shared].map(([field, about]) => `- \`${field}\`: ${about}`);
    const taken = items.length === 0 ? '' : `Several tools take:\n\n${items.join('\n')}`;
    const firsts = new Map<string, string>();
    return [`## ${toolset}`, sourcesOf(toolset), taken, ...own.map((tool) => toolPart(tool, shared, firsts))];
  });
  return [`Of every toolset:\n\n${sourcesOf(EVERY_TOOLSET)}`, ...parts].filter(isText).join('\n\n');
}

/** The arguments that two tools or more take, and say the same of. */
function sharedArguments(own: readonly AnyTool[]): ReadonlyMap<string, string> {
  const all = own.flatMap((tool) => fieldsOf(tool.listing.inputSchema));
  const isAgain = ({ field, about }: Field, at: number): boolean =>
    about !== '' && all.slice(0, at).some((one) => one.field === field && one.about === about);
  return new Map(all.filter(isAgain).map(({ field, about }) => [field, about]));
}

/** Empty where nothing is said of the toolset. */
export function sourcesOf(toolset: string): string {
  const part = fieldSources.split(/^## /m).find((text) => text.startsWith(`${toolset}\n`));
  return part?.slice(toolset.length).trim() ?? '';
}

/** `firsts` has what the tools before take and give, with the tool that is the first to do so. */
function toolPart(tool: AnyTool, shared: ReadonlyMap<string, string>, firsts: Map<string, string>): string {
  const { name, description, inputSchema, outputSchema, annotations } = tool.listing;
  if (tool.caller !== undefined)
    return `### \`${name}\`\n\nFor ${tool.caller === 'hooks' ? 'hooks' : 'the page in the chat'} alone.`;
  const changes = annotations.destructiveHint === true ? 'destroy' : 'write';
  const effect = annotations.readOnlyHint ? 'read' : changes;
  const firstWith = (words: string): string | undefined => {
    const first = firsts.get(words);
    if (first === undefined) firsts.set(words, name);
    return words.length < LEAST_REPEATED ? undefined : first;
  };
  const taken = fieldsOf(inputSchema);
  const fields = fieldsOf(outputSchema)
    .map(({ field }) => `\`${field}\``)
    .join(', ');
  const own = taken.filter(({ field, about }) => about !== (shared.get(field) ?? ''));
  const known = taken.filter((field) => !own.includes(field)).map(({ name }) => name);
  const takesAs = firstWith(taken.map((field) => field.name).join(', '));
  const givesAs = firstWith(fields);
  const takes = [
    known.length > 0 && `Takes ${known.join(', ')}.`,
    own.map((field) => `- ${field.name}: ${field.about || 'text'}`).join('\n'),
  ];
  return [
    `### \`${name}\``,
    `_${effect}._ ${description}`,
    ...(takesAs === undefined ? takes : [`Takes what \`${takesAs}\` takes.`]),
    `Gives ${givesAs === undefined ? fields : `what \`${givesAs}\` gives`}.`,
  ]
    .filter(isText)
    .join('\n\n');
}

/** What an argument must be, in fewer words than an error has, and its description; empty for a text of which nothing is said. */
function aboutOf(schema: JsonObject): string {
  const kind = (expectation(schema) ?? '')
    .replace('true or false', 'flag')
    .replaceAll(
      /\b(?:a (?:string|list|number) of|an integer (?:from|of)|one of|a string that(?: is a)?) /g,
      '',
    )
    .replaceAll('at most', 'up to')
    .replace(' items, each a string', ' texts')
    .replace('a string', '');
  return [kind, schema['description']].filter(isText).join('. ');
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

function fieldWords({ name, schema }: Field): string {
  const words = 'const' in schema ? JSON.stringify(schema['const']) : formWords(schema);
  return words === 'a string' || words === ID_WORDS ? name : `${name} (${words})`;
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
  return Object.entries(properties).map(([field, given]) => {
    const schema = isObject(given) ? given : {};
    const name = `\`${field}\`${needed.includes(field) ? '' : '?'}`;
    return { field, name, schema, about: aboutOf(schema) };
  });
}

interface Field {
  readonly field: string;
  /** With a `?` where it may be left out. */
  readonly name: string;
  readonly schema: JsonObject;
  readonly about: string;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
