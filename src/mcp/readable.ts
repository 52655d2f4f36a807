// Pure: a JSON value as a person reads it; the text of an answer says the same as its structured form.
import { isObject, type JsonObject } from './json-object.js';

/** `name: value` lines; lists with dashes, what belongs together indented, texts of several lines below their name. */
export function readable(answer: JsonObject): string {
  const blocks: string[] = [];
  for (const name of Object.keys(answer)) addField(blocks, '', name, answer[name]);
  return blocks.join('\n');
}

/** Adds whole lines, each with `indent` before it. A text that needs no indent is added as it is, whatever its size. */
function addField(blocks: string[], indent: string, name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === 'string' && value.includes('\n')) {
    blocks.push(`${indent}${name}:`, indent === '' ? value : indent + indentedLines(value, indent));
  } else if (Array.isArray(value)) {
    blocks.push(`${indent}${name}:${value.length === 0 ? ' none' : ''}`);
    for (const item of value) addItem(blocks, indent, item);
  } else if (isObject(value)) {
    blocks.push(`${indent}${name}:`);
    for (const key of Object.keys(value)) addField(blocks, `${indent}  `, key, value[key]);
  } else {
    blocks.push(`${indent}${name}: ${scalar(value)}`);
  }
}

function addItem(blocks: string[], indent: string, value: unknown): void {
  const inner = `${indent}  `;
  if (!isObject(value)) {
    blocks.push(`${indent}- ${indentedLines(scalar(value), inner)}`);
    return;
  }
  const first = blocks.length;
  for (const key of Object.keys(value)) addField(blocks, inner, key, value[key]);
  // The dash takes the place of the indent of the first line.
  blocks[first] = `${indent}- ${(blocks[first] ?? '').slice(inner.length)}`;
}

function indentedLines(text: string, indent: string): string {
  return text.includes('\n') ? text.replaceAll('\n', `\n${indent}`) : text;
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
