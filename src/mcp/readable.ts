// Pure: a JSON value as a person reads it; the text of an answer says the same as its structured form.
import { isObject, type JsonObject } from './json-object.js';

/** `name: value` lines; lists with dashes, what belongs together indented, texts of several lines below their name. */
export function readable(answer: JsonObject): string {
  return linesOf(answer).join('\n');
}

function linesOf(object: JsonObject): string[] {
  return Object.entries(object).flatMap(([name, value]) => fieldLines(name, value));
}

function fieldLines(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string' && value.includes('\n')) return [`${name}:`, ...value.split('\n')];
  if (Array.isArray(value))
    return value.length === 0 ? [`${name}: none`] : [`${name}:`, ...value.flatMap(itemLines)];
  if (isObject(value)) return [`${name}:`, ...linesOf(value).map(indented)];
  return [`${name}: ${scalar(value)}`];
}

function itemLines(value: unknown): string[] {
  const [first = '', ...rest] = isObject(value) ? linesOf(value) : scalar(value).split('\n');
  return [`- ${first}`, ...rest.map(indented)];
}

function indented(line: string): string {
  return `  ${line}`;
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
