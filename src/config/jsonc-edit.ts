// Pure.
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  type Edit,
  type FormattingOptions,
  type JSONPath,
  type Node,
} from 'jsonc-parser';
import { splitByteOrderMark } from './settings-text.js';

export interface JsonEdit {
  readonly path: JSONPath;
  /** Undefined removes what is at `path`. */
  readonly value: unknown;
  /** Adds to the list at `path` (its last step is -1) instead of replacing. */
  readonly insert?: boolean;
}

/** The text with the edits made; everything else (comments, order, layout, line ends) stays. An empty text becomes an object. */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const { mark, json } = splitByteOrderMark(text);
  return mark + edits.reduce(applyEdit, json.trim() === '' ? '{}\n' : json);
}

function applyEdit(json: string, { path, value, insert = false }: JsonEdit): string {
  const plainEdits = modify(json, [...path], value, { isArrayInsertion: insert });
  // A layout would be given to the neighbours too.
  if (value === undefined) return applyEdits(json, plainEdits);
  const [plain] = plainEdits;
  const lastSibling = siblingBefore(json, path);
  if (plain?.content.startsWith(',') === true && lastSibling !== undefined) {
    return applyEdits(json, [laidOutLike(json, lastSibling, plain)]);
  }
  return applyEdits(
    json,
    modify(json, [...path], value, { isArrayInsertion: insert, formattingOptions: layoutOf(json) }),
  );
}

/** The last child of the innermost list or object on the path that is there. */
function siblingBefore(json: string, path: JSONPath): Node | undefined {
  const root = parseTree(json, [], { allowTrailingComma: true });
  if (root === undefined) return undefined;
  let parent = root;
  for (let steps = 1; steps < path.length; steps++) {
    const next = findNodeAtLocation(root, path.slice(0, steps));
    if (next === undefined) break;
    parent = next;
  }
  return parent.children?.at(-1);
}

/** The insertion on lines of its own, indented as its sibling; jsonc-parser's own layout would rewrite the sibling too. */
function laidOutLike(json: string, sibling: Node, edit: Edit): Edit {
  const before = json.slice(0, sibling.offset);
  const indent = /(?:^|[\r\n])([ \t]*)$/.exec(before)?.[1];
  if (indent === undefined) return { ...edit, content: `, ${edit.content.slice(1)}` };
  const { eol = '\n', insertSpaces = true, tabSize = 2 } = layoutOf(json);
  const isProperty = sibling.type === 'property';
  const added: unknown = JSON.parse(isProperty ? `{${edit.content.slice(1)}}` : `[${edit.content.slice(1)}]`);
  const lines = JSON.stringify(added, null, insertSpaces ? tabSize : '\t').split('\n');
  const unit = insertSpaces ? tabSize : 1;
  const content = lines.slice(1, -1).map((line) => eol + indent + line.slice(unit));
  return { ...edit, content: `,${content.join('')}` };
}

function layoutOf(json: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: json.includes('\r\n') ? '\r\n' : '\n',
  };
}
