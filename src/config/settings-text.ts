import { getNodeValue, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { oneLine } from '../base/text/text.js';

export interface SettingsEntry {
  readonly key: string;
  readonly value: unknown;
  /** Counted from 1. */
  readonly line: number;
}

export type SettingsText =
  | { readonly kind: 'entries'; readonly entries: readonly SettingsEntry[] }
  | {
      readonly kind: 'errors';
      readonly errors: readonly { readonly line: number; readonly words: string }[];
    };

/** More syntax errors than this only follow from the first ones. */
const MAX_SYNTAX_ERRORS = 3;
/** Of a key that a message names. */
const SHOWN_CHARS = 400;

const BYTE_ORDER_MARK = '\ufeff';

/** Splits a byte order mark off, so that offsets and edits see the JSON alone. */
export function splitByteOrderMark(text: string): { readonly mark: string; readonly json: string } {
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, json: text.slice(1) }
    : { mark: '', json: text };
}

/** Reads one JSON object, with comments and trailing commas; a duplicate key is an error. Pure. */
export function parseSettingsText(text: string): SettingsText {
  const { json } = splitByteOrderMark(text);
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(json, errors, { allowTrailingComma: true });
  } catch (thrown) {
    // The parser calls itself for each bracket.
    if (!(thrown instanceof RangeError)) throw thrown;
    return { kind: 'errors', errors: [{ line: 1, words: 'the JSON is nested too deeply' }] };
  }
  if (json.trim() === '')
    return error(1, 'the file is empty, expected a JSON object such as { "allowed_roots": [] }');
  if (errors.length > 0) {
    return {
      kind: 'errors',
      errors: errors.slice(0, MAX_SYNTAX_ERRORS).map((error) => {
        const { line, column } = positionAt(json, error.offset);
        return {
          line,
          words: `column ${column}: broken JSON: ${syntaxWords(printParseErrorCode(error.error))}`,
        };
      }),
    };
  }
  if (root?.type !== 'object') return error(1, `found ${kindOf(root)}, expected a JSON object`);
  return entriesOf(root, json);
}

function entriesOf(root: Node, json: string): SettingsText {
  const firstLine = new Map<string, number>();
  const entries: SettingsEntry[] = [];
  const errors: { line: number; words: string }[] = [];
  const lineOf = lineCounter(json);
  for (const property of root.children ?? []) {
    const [name, value] = property.children ?? [];
    if (name === undefined || value === undefined) continue;
    const key = String(name.value);
    const line = lineOf(property.offset);
    const before = firstLine.get(key);
    if (before === undefined) {
      firstLine.set(key, line);
      entries.push({ key, value: getNodeValue(value), line });
    } else {
      const name = oneLine(JSON.stringify(key), SHOWN_CHARS);
      errors.push({ line, words: `duplicate key ${name} (first defined on line ${before})` });
    }
  }
  return errors.length > 0 ? { kind: 'errors', errors } : { kind: 'entries', entries };
}

function error(line: number, words: string): SettingsText {
  return { kind: 'errors', errors: [{ line, words }] };
}

function kindOf(root: Node | undefined): string {
  if (root === undefined) return 'nothing';
  return root.type === 'array' ? 'a list' : `a ${root.type}`;
}

/** `CommaExpected` as `comma expected`. */
export function syntaxWords(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

/** Tells the line of an offset, when each offset is behind the one before: the text is read once. */
function lineCounter(text: string): (offset: number) => number {
  const lineEnd = /\r\n|\n|\r/g;
  let line = 1;
  let next = lineEnd.exec(text);
  return (offset) => {
    for (; next !== null && next.index < offset; next = lineEnd.exec(text)) line++;
    return line;
  };
}

function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
