// Pure: JSON with comments as people write it: read with the lines of its keys, and edited in place.
import {
  applyEdits,
  format,
  modify,
  parse,
  printParseErrorCode,
  visit,
  type Edit,
  type JSONPath,
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

export type JsonText =
  | { readonly kind: 'value'; readonly value: unknown; readonly keys: readonly JsonKey[] }
  | { readonly kind: 'faults'; readonly faults: readonly JsonFault[] };

/** A key of the outermost object. */
export interface JsonKey {
  readonly key: string;
  readonly line: number;
}

/** A value for the place at `path`: undefined removes what is there, and -1 as the last step appends to a list. */
export interface JsonEdit {
  readonly path: JSONPath;
  readonly value: unknown;
}

export interface SettingsEntry extends JsonKey {
  readonly value: unknown;
}

export type SettingsText =
  | { readonly kind: 'entries'; readonly entries: readonly SettingsEntry[] }
  | { readonly kind: 'errors'; readonly errors: readonly JsonFault[] };

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
  const faults: JsonFault[] = [];
  const keys: JsonKey[] = [];
  const options = { disallowComments: !comments, allowTrailingComma: trailingCommas };
  let depth = 0;
  const begin = (): void => void depth++;
  const end = (): void => void depth--;
  try {
    visit(
      json,
      {
        onObjectBegin: begin,
        onArrayBegin: begin,
        onObjectEnd: end,
        onArrayEnd: end,
        onObjectProperty: (key, _offset, _length, line) => {
          if (depth === 1) keys.push({ key, line: line + 1 });
        },
        onError: (code, _offset, _length, line, column) => {
          const what = printParseErrorCode(code).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
          const words = `column ${column + 1}: broken JSON: ${what.toLowerCase()}`;
          if (faults.length < MAX_SYNTAX_ERRORS) faults.push({ line: line + 1, words });
        },
      },
      options,
    );
    if (faults.length > 0) return { kind: 'faults', faults };
    return { kind: 'value', value: parse(json, [], options), keys };
  } catch (error) {
    // The parser calls itself for each bracket.
    if (!(error instanceof RangeError)) throw error;
    return { kind: 'faults', faults: [{ line: 1, words: 'the JSON is nested too deeply' }] };
  }
}

/** Reads one JSON object, with comments and trailing commas; a duplicate key is an error. */
export function parseSettingsText(text: string): SettingsText {
  const { json } = splitByteOrderMark(text);
  if (json.trim() === '')
    return wrong(1, 'the file is empty, expected a JSON object such as { "allowed_roots": [] }');
  const read = readJsonText(json, LENIENT);
  if (read.kind === 'faults') return { kind: 'errors', errors: read.faults };
  const { value, keys } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong(1, `found ${Array.isArray(value) ? 'a list' : `a ${typeof value}`}, expected a JSON object`);
  const firstLine = new Map<string, number>();
  const errors: JsonFault[] = [];
  for (const { key, line } of keys) {
    const before = firstLine.get(key);
    if (before === undefined) firstLine.set(key, line);
    else {
      const name = oneLine(JSON.stringify(key), SHOWN_CHARS);
      errors.push({ line, words: `duplicate key ${name} (first defined on line ${before})` });
    }
  }
  if (errors.length > 0) return { kind: 'errors', errors };
  const values = new Map<string, unknown>(Object.entries(value));
  const entries = keys.map((one) => ({ ...one, value: values.get(one.key) }));
  return { kind: 'entries', entries };
}

function wrong(line: number, words: string): SettingsText {
  return { kind: 'errors', errors: [{ line, words }] };
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
