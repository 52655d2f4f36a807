import { isMap, isNode, isScalar, parseDocument, stringify, type Document, type Pair } from 'yaml';
import { serversOf } from './servers-of.js';
import type { Entry, ServersRead, SettingsFormat } from './settings-format.js';

const INDENT = '  ';

/** Lines are spliced in and cut out, so that the layout of everything else stays. */
export const yamlFormat: SettingsFormat = { servers, withEntry, withoutEntry, print, isEmpty };

function servers(text: string, serversKey: string): ServersRead {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined)
    return { kind: 'broken', why: `broken YAML: ${error.message.split('\n')[0] ?? ''}` };
  const whole: unknown = document.toJS();
  if (whole === null || whole === undefined) return { kind: 'servers', servers: {} };
  if (!isMap(document.contents)) return { kind: 'broken', why: 'expected a mapping' };
  return serversOf(document.get(serversKey) === null ? null : toJs(document, serversKey), serversKey, '');
}

function withEntry(text: string, serversKey: string, name: string, entry: Entry): string {
  const read = servers(text, serversKey);
  if (read.kind === 'servers' && Object.hasOwn(read.servers, name))
    return withEntry(withoutEntry(text, serversKey, name), serversKey, name, entry);
  const document = parseDocument(text);
  const known = document.get(serversKey, true);
  if (known === undefined && isBlock(document.contents ?? undefined))
    return added(text, print(serversKey, name, entry));
  const pairs = isMap(known) && isBlock(known) ? known.items : [];
  // A key without a value holds nothing yet.
  const empty = isScalar(known) && known.value === null ? pairOf(document.contents, serversKey) : undefined;
  const before = pairs.at(-1) ?? empty;
  if (before === undefined) {
    document.setIn([serversKey, name], document.createNode(entry));
    return document.toString({ lineWidth: 0 });
  }
  const indent = before === empty ? INDENT : ' '.repeat(start(before) - lineStart(text, start(before)));
  const lines = stringify({ [name]: entry })
    .trimEnd()
    .split('\n');
  const at = lineEnd(text, end(before));
  const gap = text.slice(0, at).endsWith('\n') ? '' : '\n';
  return `${text.slice(0, at)}${gap}${lines.map((line) => `${indent}${line}\n`).join('')}${text.slice(at)}`;
}

function withoutEntry(text: string, serversKey: string, name: string): string {
  const document = parseDocument(text);
  const known = document.get(serversKey, true);
  if (!isMap(known)) return text;
  const isLast = known.items.length === 1;
  const parent = isLast ? document.contents : known;
  const key = isLast ? serversKey : name;
  const pair = pairOf(parent, key);
  if (pair !== undefined)
    return text.slice(0, lineStart(text, start(pair))) + text.slice(lineEnd(text, end(pair)));
  document.deleteIn(isLast ? [serversKey] : [serversKey, name]);
  return document.toString({ lineWidth: 0 });
}

function print(serversKey: string, name: string, entry: Entry): string {
  return stringify({ [serversKey]: { [name]: entry } });
}

function isEmpty(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

function added(text: string, lines: string): string {
  return text === '' || text.endsWith('\n') ? text + lines : `${text}\n${lines}`;
}

/** The pair of that key in a mapping over several lines. */
function pairOf(mapping: unknown, key: string): Pair | undefined {
  if (!isMap(mapping) || !isBlock(mapping)) return undefined;
  return mapping.items.find(({ key: node }) => isScalar(node) && node.value === key);
}

/** Over several lines, without braces; an empty document counts too. */
function isBlock(node: unknown): boolean {
  return node === undefined || (isMap(node) && node.flow !== true);
}

function toJs(document: Document.Parsed, key: string): unknown {
  const whole: unknown = document.toJS();
  return typeof whole === 'object' && whole !== null
    ? Object.entries(whole).find(([name]) => name === key)?.[1]
    : undefined;
}

function start({ key }: Pair): number {
  return isNode(key) ? (key.range?.[0] ?? 0) : 0;
}

/** Where what a key holds ends, without the comment behind it. */
function end({ key, value }: Pair): number {
  const last = isMap(value) && isBlock(value) ? value.items.at(-1) : undefined;
  if (last !== undefined) return end(last);
  const node = isNode(value) ? value : key;
  return isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The start of the next line, or the end of the text. */
function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset;
  const found = text.indexOf('\n', offset);
  return found === -1 ? text.length : found + 1;
}
