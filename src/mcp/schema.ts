// Pure: the JSON Schema of arguments and answers as clients see it, and errors in arguments, in words that a model can act on.
import { z } from 'zod';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { isObject, type JsonObject } from './answers.js';

/** What zod writes for every `z.int()`; a bound that every integer keeps says nothing. */
const SAFE_BOUNDS: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** In the `meta` of an argument that is understood, and not listed. */
export const UNLISTED = 'unlisted';

/**
 * `input`: what a caller may send, defaults optional. `output`: what a caller gets; which fields are always there is left
 * out, because it costs more bytes than it helps a reader.
 */
export function wireSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonObject {
  // The protocol's default dialect.
  const { $schema: _dialect, ...whole } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: node }) => {
      // Unknown arguments are refused with the nearest known name.
      if (!isObject(node.additionalProperties)) delete node.additionalProperties;
      if (io === 'output') delete node.required;
      delete node.propertyNames;
      for (const [name, property] of Object.entries(node.properties ?? {}))
        if (isObject(property) && property[UNLISTED] === true) delete node.properties?.[name];
    },
  });
  const wire: unknown = JSON.parse(JSON.stringify(whole), (_, value: unknown) =>
    SAFE_BOUNDS.has(value) ? undefined : value,
  );
  return isObject(wire) ? wire : {};
}

/** More would hide the first ones; a caller with five errors reads the schema again. */
const MAX_ERRORS = 5;
const MAX_VALUE_CHARS = 80;
const MAX_NAME_CHARS = 60;

type Issue = z.core.$ZodIssue;

/** One sentence for each error: the argument, what is expected, what was found. `schema` is the tool's input schema. */
export function argumentErrors(error: z.ZodError, args: unknown, schema: JsonObject): string {
  if (!isObject(args)) return `the arguments must be an object (got ${shown(args)}).`;
  const errors = error.issues.flatMap((issue) => errorsOf(issue, args, schema));
  const shownErrors = errors.slice(0, MAX_ERRORS).join(' ');
  return errors.length > MAX_ERRORS ? `${shownErrors} And ${errors.length - MAX_ERRORS} more.` : shownErrors;
}

function errorsOf(issue: Issue, args: JsonObject, schema: JsonObject): string[] {
  const place = placeText(issue.path);
  const found = valueAt(args, issue.path);
  const node = nodeAt(schema, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = isObject(node?.['properties']) ? Object.keys(node['properties']) : [];
    const free = known.filter((name) => !isObject(found) || !Object.hasOwn(found, name));
    return issue.keys.map((key) => unknownName(place === '' ? key : `${place}.${key}`, key, known, free));
  }
  // A custom check knows more than the schema says.
  const isCustom = issue.code === 'custom' || node === undefined;
  const wanted = isCustom ? issue.message : (expectation(node) ?? issue.message);
  return [
    found === undefined
      ? `${place} is required and must be ${wanted}.`
      : `${place} must be ${wanted} (got ${shown(found)}).`,
  ];
}

/** `free`: the known names that were not given. */
function unknownName(place: string, key: string, known: readonly string[], free: readonly string[]): string {
  const near = nearestName(key, free);
  const name = `unknown argument ${oneLine(JSON.stringify(place), MAX_NAME_CHARS)}`;
  if (near !== undefined) return `${name} (did you mean "${near}"?).`;
  if (known.length > 0) return `${name} (known: ${known.join(', ')}).`;
  // What is in an argument may be known to its own schema alone.
  return place === key ? `${name}; it takes no arguments.` : `${name}.`;
}

function placeText(path: Issue['path']): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = oneLine(String(part), MAX_NAME_CHARS);
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function valueAt(value: unknown, path: Issue['path']): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at) && typeof part === 'number') return at[part];
    return isObject(at) && typeof part === 'string' && Object.hasOwn(at, part) ? at[part] : undefined;
  }, value);
}

function nodeAt(schema: JsonObject, path: Issue['path']): JsonObject | undefined {
  const found = path.reduce<unknown>((node, part) => {
    if (!isObject(node)) return undefined;
    if (typeof part === 'number') return node['items'];
    const properties = node['properties'];
    return isObject(properties) ? properties[String(part)] : node['additionalProperties'];
  }, schema);
  return isObject(found) ? found : undefined;
}

/** The words of one schema node: `an integer from 60 to 14400`, `one of "auto", "cautious"`. */
export function expectation(node: JsonObject): string | undefined {
  const { enum: choices, type, anyOf } = node;
  if (Array.isArray(anyOf)) {
    const each = anyOf.map((one) => (isObject(one) ? expectation(one) : undefined));
    return each.includes(undefined) ? undefined : each.join(', or ');
  }
  if (Array.isArray(choices)) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  switch (type) {
    case 'string':
      return `a string${rangeText(node['minLength'], node['maxLength'], ' of', ' characters')}${formText(node)}`;
    case 'integer':
      return `an integer${rangeText(node['minimum'], node['maximum'], ' from', '')}`;
    case 'number':
      return `a number${rangeText(node['minimum'], node['maximum'], ' from', '')}`;
    case 'boolean':
      return 'true or false';
    case 'array': {
      const items = isObject(node['items']) ? expectation(node['items']) : undefined;
      return `a list${rangeText(node['minItems'], node['maxItems'], ' of', ' items')}${items === undefined ? '' : `, each ${items}`}`;
    }
    case 'object': {
      const names = isObject(node['properties']) ? Object.keys(node['properties']) : [];
      return names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`;
    }
    default:
      return undefined;
  }
}

/** How the pattern of a UUID begins, whatever its version. */
const UUID_BEGINS = '^[0-9a-f]{8}-[0-9a-f]{4}-';

function formText({ format, pattern }: JsonObject): string {
  if (typeof format === 'string') return ` in the format ${format}`;
  if (typeof pattern !== 'string') return '';
  return pattern.startsWith(UUID_BEGINS) ? ' that is a UUID' : ` that matches ${pattern}`;
}

/** `before` comes before two bounds: a list *of* 1 to 20 items, an integer *from* 60 to 14400. */
function rangeText(from: unknown, to: unknown, before: string, after: string): string {
  if (typeof from === 'number' && typeof to === 'number') return `${before} ${from} to ${to}${after}`;
  if (typeof from === 'number') return ` of at least ${from}${after}`;
  if (typeof to === 'number') return ` of at most ${to}${after}`;
  return '';
}

function shown(value: unknown): string {
  if (typeof value === 'string')
    return oneLine(JSON.stringify(value.slice(0, MAX_VALUE_CHARS + 1)), MAX_VALUE_CHARS);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? 'an object' : String(value);
}
