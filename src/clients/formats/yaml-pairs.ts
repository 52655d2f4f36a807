import { isMap, isNode, isScalar, type Pair, type YAMLMap } from 'yaml';
import type { Entry } from './settings-format.js';

/** The pair of that key. */
export function pairOf(mapping: YAMLMap, key: string): Pair | undefined {
  return mapping.items.find(({ key: node }) => isScalar(node) && node.value === key);
}

/** The text with lines of a mapping added behind the last pair of one over several lines, indented as that is. */
export function insertBlock(text: string, mapping: YAMLMap, lines: string): string {
  const last = mapping.items.at(-1);
  if (last === undefined) throw new Error('the mapping has no pair');
  const indent = ' '.repeat(start(last) - lineStart(text, start(last)));
  const at = endOf(text, last);
  const gap = text.slice(0, at).endsWith('\n') ? '' : '\n';
  return text.slice(0, at) + gap + lines.replaceAll(/^(?=.)/gm, indent) + text.slice(at);
}

/** The text without the lines of a pair in a mapping over several lines. */
export function cutBlock(text: string, mapping: YAMLMap, key: string): string {
  const pair = pairOf(mapping, key);
  if (pair === undefined) throw new Error(`there is no ${key}`);
  return text.slice(0, lineStart(text, start(pair))) + text.slice(endOf(text, pair));
}

/** The text with pairs added at the end of a mapping in braces. */
export function insertFlow(text: string, mapping: YAMLMap, added: Entry): string {
  const brace = (mapping.range?.[1] ?? 0) - 1;
  if (text[brace] !== '}') throw new Error('the mapping has no brace at its end');
  const head = text.slice(0, brace).trimEnd();
  const comma = /[{,]$/.test(head) ? '' : ',';
  const space = text.slice(head.length, brace);
  return `${head}${comma} ${JSON.stringify(added).slice(1, -1)}${space}${text.slice(brace)}`;
}

/** The text without a pair of a mapping in braces, and without the comma before or behind it. */
export function cutFlow(text: string, mapping: YAMLMap, key: string): string {
  const index = mapping.items.findIndex(({ key: node }) => isScalar(node) && node.value === key);
  const [before, pair, after] = [index - 1, index, index + 1].map((at) => mapping.items[at]);
  if (index === -1 || pair === undefined) throw new Error(`there is no ${key}`);
  if (index > 0 && before !== undefined) return text.slice(0, end(before)) + text.slice(end(pair));
  return text.slice(0, start(pair)) + text.slice(after === undefined ? end(pair) : start(after));
}

/** The start of the line behind what a pair holds, or the end of the text. */
export function endOf(text: string, pair: Pair): number {
  const offset = end(pair);
  if (offset > 0 && text[offset - 1] === '\n') return offset;
  const found = text.indexOf('\n', offset);
  return found === -1 ? text.length : found + 1;
}

function start({ key }: Pair): number {
  return isNode(key) ? (key.range?.[0] ?? 0) : 0;
}

/** Where what a key holds ends, without the comment behind it. */
function end({ key, value }: Pair): number {
  const last = isMap(value) && value.flow !== true ? value.items.at(-1) : undefined;
  if (last !== undefined) return end(last);
  const node = isNode(value) ? value : key;
  return isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}
