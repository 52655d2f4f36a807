// Pure: a JSON value as a person or a model reads it; the text of an answer says the same as its structured form.
import { escapedUnsafe, hasUnsafe, quotedLines } from '../base/text.js';
import { isObject, type JsonObject } from './json-object.js';

/**
 * Fields that hold what the caller asked to read: a file, a diff, an output. Such a text is printed last and as it is, so
 * that no fact of the bridge can be forged behind it.
 */
const BODIES: ReadonlySet<string> = new Set(['content', 'diff', 'text', 'tree']);
/** Fields that are mostly empty, and say nothing then. */
const QUIET: ReadonlySet<string> = new Set(['activity', 'left_out']);
/** Whatever a terminal or a model may take for the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/**
 * `name: value` lines; lists with dashes, what belongs together indented. Each line of a text of several lines begins with
 * `| `, and names of files are on one line, so that foreign text never looks like a field. See BODIES for the exception.
 */
export function readable(answer: JsonObject): string {
  const name = Object.keys(answer).find((field) => isBody(field, answer[field]));
  if (name === undefined) return fieldsOf(answer);
  const { [name]: body, ...facts } = answer;
  const before = fieldsOf(facts);
  return `${before}${before === '' ? '' : '\n'}${name}, to the end of this answer:\n${scalar(body)}`;
}

function isBody(name: string, value: unknown): boolean {
  return BODIES.has(name) && typeof value === 'string' && hasUnsafe(value);
}

function fieldsOf(answer: JsonObject): string {
  const blocks: string[] = [];
  for (const name of Object.keys(answer)) addField(blocks, '', name, answer[name]);
  return blocks.join('\n');
}

/** Adds whole lines, each with `indent` before it. */
function addField(blocks: string[], indent: string, name: string, value: unknown): void {
  if (value === undefined || (QUIET.has(name) && isEmpty(value))) return;
  if (typeof value === 'string' && LINE_BREAK.test(value)) {
    if (isName(name)) blocks.push(`${indent}${name}: ${onOneLine(value)}`);
    else blocks.push(`${indent}${name}:`, quotedLines(value, indent));
  } else if (Array.isArray(value)) {
    blocks.push(`${indent}${name}:${value.length === 0 ? ' none' : ''}`);
    for (const item of value) addItem(blocks, indent, item);
  } else if (isObject(value)) {
    blocks.push(`${indent}${name}:`);
    // Keys come from callers and agents, too: questions, for one.
    for (const key of Object.keys(value)) addField(blocks, `${indent}  `, onOneLine(key), value[key]);
  } else {
    blocks.push(`${indent}${name}: ${onOneLine(scalar(value))}`);
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function addItem(blocks: string[], indent: string, value: unknown): void {
  if (!isObject(value)) {
    const text = scalar(value);
    blocks.push(`${indent}- ${onOneLine(text)}`);
    return;
  }
  const inner = `${indent}  `;
  const first = blocks.length;
  for (const key of Object.keys(value)) addField(blocks, inner, onOneLine(key), value[key]);
  // The dash takes the place of the indent of the first line.
  if (blocks.length > first) blocks[first] = `${indent}- ${(blocks[first] ?? '').slice(inner.length)}`;
}

/** A file name may hold a line break; what it names is on one line all the same. */
function isName(field: string): boolean {
  return /(^|_)(path|file|folder|directory|name|from|to|branch|worktree)$/.test(field);
}

/** As it is, or, with a character in it that is not safe to show, as a JSON string. */
function onOneLine(text: string): string {
  return hasUnsafe(text) ? escapedUnsafe(JSON.stringify(text)) : text;
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
