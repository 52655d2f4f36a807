import { applyEdits, modify, type FormattingOptions, type JSONPath } from 'jsonc-parser';
import { splitByteOrderMark } from '../config/settings-text.js';

export interface JsonEdit {
  readonly path: JSONPath;
  readonly value: unknown;
  /** Adds to the list at `path` (its last step is -1) instead of replacing. */
  readonly insert?: boolean;
}

/** The text with the edits made; everything else (comments, order, indentation, line ends) stays. An empty text becomes an object. */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const { mark, json } = splitByteOrderMark(text);
  const before = json.trim() === '' ? '{}\n' : json;
  const formattingOptions = layoutOf(before);
  const after = edits.reduce(
    (edited, { path, value, insert = false }) =>
      applyEdits(edited, modify(edited, [...path], value, { formattingOptions, isArrayInsertion: insert })),
    before,
  );
  return mark + after;
}

function layoutOf(json: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  };
}
