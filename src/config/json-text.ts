// Pure: JSON with comments as people write it: read with the lines of its keys, and edited in place.
import {
  applyEdits,
  format,
  getNodeValue,
  modify,
  parse,
  parseTree,
  printParseErrorCode,
  type Edit,
  type JSONPath,
  type ParseError,
} from 'jsonc-parser';
import { oneLine } from '../base/text.js';

/** What a text may hold beyond JSON. */
export interface JsonDialect {
  readonly comments: boolean;
  /** Commas before closing brackets. */
  readonly trailingCommas: boolean;
}

/** A fault of a text, at a line that counts from 1. */
export interface JsonFault {
  readonly line: number;
  readonly words: string;
}

/** An entry of the outermost object. */
export interface JsonEntry {
  readonly key: string;
  readonly line: number;
  readonly value: unknown;
}

export type JsonText =
  | { readonly kind: 'value'; readonly value: unknown; readonly entries: readonly JsonEntry[] }
  | { readonly kind: 'faults'; readonly faults: readonly JsonFault[] };

/** A value for the place at `path`: undefined removes what is there, and -1 as the last step appends to a list. */
export interface JsonEdit {
  readonly path: JSONPath;
  readonly value: unknown;
}

/** More syntax errors than this only follow from the first ones. */
const MAX_SYNTAX_ERRORS = 3;
/** Of a key that a message names. */
const SHOWN_CHARS = 400;
const BYTE_ORDER_MARK = '\ufeff';
const LENIENT: JsonDialect = { comments: true, trailingCommas: true };

/** Splits a byte order mark off, so that offsets and edits see the JSON alone. */
export function splitByteOrderMark(text: string): { readonly mark: string; readonly json: string } {
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, json: text.slice(1) }
    : { mark: '', json: text };
}

/** The value of a text without a byte order mark, or its first faults in that dialect. */
export function readJsonText(json: string, { comments, trailingCommas }: JsonDialect): JsonText {
  const options = { disallowComments: !comments, allowTrailingComma: trailingCommas };
  const errors: ParseError[] = [];
  try {
    const tree = parseTree(json, errors, options);
    if (errors.length > 0)
      return {
        kind: 'faults',
        faults: errors.slice(0, MAX_SYNTAX_ERRORS).map((error) => faultOf(json, error)),
      };
    const members = tree?.type === 'object' ? (tree.children ?? []) : [];
    let [line, seen] = [1, 0];
    const entries = members.map(({ offset, children: [key, value] = [] }) => {
      line += linesOf(json.slice(seen, offset)).length - 1;
      seen = offset;
      const member: unknown = value && getNodeValue(value);
      return { key: String(key?.value), line, value: member };
    });
    return { kind: 'value', value: parse(json, [], options), entries };
  } catch (error) {
    // The parser calls itself for each bracket.
    if (!(error instanceof RangeError)) throw error;
    return fault(1, 'the JSON is nested too deeply');
  }
}

function faultOf(json: string, { error, offset }: ParseError): JsonFault {
  const lines = linesOf(json.slice(0, offset));
  const what = printParseErrorCode(error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  const words = `column ${(lines.at(-1) ?? '').length + 1}: broken JSON: ${what.toLowerCase()}`;
  return { line: lines.length, words };
}

function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/);
}

/** Reads one JSON object, with comments and trailing commas; a duplicate key is a fault. */
export function parseSettingsText(text: string): JsonText {
  const { json } = splitByteOrderMark(text);
  if (json.trim() === '')
    return fault(1, 'the file is empty, expected a JSON object such as { "allowed_roots": [] }');
  const read = readJsonText(json, LENIENT);
  if (read.kind === 'faults') return read;
  const { value, entries } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    return fault(1, `found ${found}, expected a JSON object`);
  }
  const firstLine = new Map<string, number>();
  const faults = entries.flatMap(({ key, line }) => {
    const before = firstLine.get(key);
    if (before === undefined) firstLine.set(key, line);
    const name = oneLine(JSON.stringify(key), SHOWN_CHARS);
    const words = `duplicate key ${name} (first defined on line ${before})`;
    return before === undefined ? [] : [{ line, words }];
  });
  return faults.length > 0 ? { kind: 'faults', faults } : read;
}

function fault(line: number, words: string): JsonText {
  return { kind: 'faults', faults: [{ line, words }] };
}

/**
 * The text with the edits made; comments and the layout of all else stay. An empty text becomes an object. Throws for a text that has no
 * place at such a path.
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const { mark, json } = splitByteOrderMark(text);
  return mark + edits.reduce(applyEdit, json.trim() === '' ? '{}\n' : json);
}

function applyEdit(json: string, { path, value }: JsonEdit): string {
  const [edit] = modify(json, [...path], value, {});
  if (edit === undefined) return json;
  if (value === undefined) return applyEdits(json, [withComment(json, edit)]);
  const eol = json.includes('\r\n') ? '\r\n' : '\n';
  const indent = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  const layout = {
    insertSpaces: indent.startsWith(' '),
    tabSize: indent.startsWith(' ') ? indent.length : 1,
    eol,
  };
  const { offset, length, content } = edit;
  const [, comma = '', body = ''] = /^(,?)([^]*)$/.exec(content) ?? [];
  // A text on one line stays there.
  if (!/[\r\n]/.test(json.slice(0, offset)) && (comma !== '' || length > 0))
    return applyEdits(json, [{ offset, length, content: comma === '' ? body : `, ${body}` }]);
  if (length > 0) return applyEdits(json, modify(json, [...path], value, { formattingOptions: layout }));
  // What is new is on lines of its own, so that to lay it out touches no other one; a comment stays with what it comments.
  const [comment = ''] = /^(?:[ \t]*\/\/[^\r\n]*)?/.exec(json.slice(offset)) ?? [];
  const member = path.findIndex((step) => body.startsWith(`${JSON.stringify(step)}:`));
  const depth = member === -1 ? path.length : member + 1;
  const line = indent.repeat(depth) + body;
  const at = offset + comma.length + comment.length + eol.length;
  const rest = json.slice(offset + comment.length);
  const close = /^[}\]]/.test(rest) ? eol + indent.repeat(depth - 1) : '';
  const whole = `${json.slice(0, offset)}${comma}${comment}${eol}${line}${close}${rest}`;
  return applyEdits(whole, format(whole, { offset: at, length: line.length }, layout));
}

/** A removal that leaves the comment behind the member before. */
function withComment(json: string, removal: Edit): Edit {
  const { offset, length } = removal;
  const [kept] = /^[ \t]*,[ \t]*\/\/[^\r\n]*/.exec(json.slice(offset, offset + length)) ?? [];
  if (kept === undefined) return removal;
  const [comma] = /^\s*,/.exec(json.slice(offset + length)) ?? [];
  return comma === undefined
    ? { ...removal, content: kept.replace(',', '') }
    : { offset: offset + kept.length, length: length - kept.length + comma.length, content: '' };
}
