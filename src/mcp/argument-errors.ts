// Pure: the errors in a call's arguments, in words that a model can act on.
import type { z } from 'zod';
import { oneLine } from '../base/text.js';
import { nearestName } from '../base/input.js';
import { isObject, type JsonObject } from './json-object.js';

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
  if (issue.code === 'unrecognized_keys') {
    const known = knownNames(schema, issue.path);
    const given = valueAt(args, issue.path);
    const free = known.filter((name) => !isObject(given) || !Object.hasOwn(given, name));
    return issue.keys.map((key) => unknownName(place === '' ? key : `${place}.${key}`, key, known, free));
  }
  const found = valueAt(args, issue.path);
  const expected = expectedAt(schema, issue.path) ?? issue.message;
  // A custom check knows more than the schema says.
  const wanted = issue.code === 'custom' ? issue.message : expected;
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
  return known.length === 0 ? `${name}; it takes no arguments.` : `${name} (known: ${known.join(', ')}).`;
}

function knownNames(schema: JsonObject, path: Issue['path']): string[] {
  const node = nodeAt(schema, path);
  return isObject(node?.['properties']) ? Object.keys(node['properties']) : [];
}

function placeText(path: Issue['path']): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = oneLine(String(part), MAX_NAME_CHARS);
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function valueAt(value: unknown, path: Issue['path']): unknown {
  let at = value;
  for (const part of path) {
    if (Array.isArray(at) && typeof part === 'number') at = at[part];
    else if (isObject(at) && typeof part === 'string' && Object.hasOwn(at, part)) at = at[part];
    else return undefined;
  }
  return at;
}

function nodeAt(schema: JsonObject, path: Issue['path']): JsonObject | undefined {
  let node: unknown = schema;
  for (const part of path) {
    if (!isObject(node)) return undefined;
    const properties = node['properties'];
    if (typeof part === 'number') node = node['items'];
    else node = isObject(properties) ? properties[String(part)] : node['additionalProperties'];
  }
  return isObject(node) ? node : undefined;
}

function expectedAt(schema: JsonObject, path: Issue['path']): string | undefined {
  const node = nodeAt(schema, path);
  return node === undefined ? undefined : expectation(node);
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
  if (isObject(value)) return 'an object';
  return String(value);
}
