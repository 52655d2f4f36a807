import { RE2JS, RE2JSException } from 're2js';
import { BridgeError } from '../../base/errors.js';
import { mustBeShort } from './search-query.js';

/**
 * True for paths that the glob takes: by name without a slash in it, else by path, as in a .gitignore; `{a,b}` is one of them. Its
 * expression is RE2's: any glob takes time that grows with the path only. Throws INVALID_ARGUMENTS.
 */
export function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  mustBeShort('glob', glob);
  const isNegated = glob.startsWith('!');
  const pattern = isNegated ? glob.slice(1) : glob;
  const hasSlash = pattern.includes('/');
  try {
    if (pattern === '' || pattern.endsWith('/')) throw namesNoFiles(glob);
    const compiled = RE2JS.compile(expressionOf(pattern.replace(/^\//, '')));
    return (path) => isNegated !== compiled.matches(hasSlash ? path : path.slice(path.lastIndexOf('/') + 1));
  } catch (thrown) {
    if (thrown instanceof RE2JSException) throw namesNoFiles(glob);
    throw thrown;
  }
}

/** The parts of a glob that mean something of their own. */
const PARTS =
  /\\(?<escaped>.)|(?<folders>(?:(?<=^|\/)\*{2,}\/)+)|(?<stars>\*+)|(?<one>\?)|(?<set>\[[!^]?\]?(?:\\.|[^\]\\])*\])|(?<other>.)/gsu;

function expressionOf(glob: string): string {
  let groups = 0;
  const left = (glob.match(/\{/g) ?? []).length;
  const right = (glob.match(/\}/g) ?? []).length;
  // A brace without its other half is a brace.
  const hasGroups = left === right;
  let expression = '';
  for (const { groups: part = {} } of glob.matchAll(PARTS)) {
    const { escaped, folders, stars, one, set, other = '' } = part;
    if (escaped !== undefined) expression += RE2JS.quote(escaped);
    else if (folders !== undefined) expression += '(?:[^/]+/)*';
    else if (stars !== undefined) expression += stars.length > 1 && isAfterSlash(expression) ? '.*' : '[^/]*';
    else if (one !== undefined) expression += '[^/]';
    else if (set !== undefined) expression += setOf(set);
    else if (hasGroups && other === '{') {
      groups++;
      expression += '(?:';
    } else if (groups > 0 && other === '}') {
      groups--;
      expression += ')';
    } else if (groups > 0 && other === ',') expression += '|';
    else expression += RE2JS.quote(other);
  }
  return expression;
}

function isAfterSlash(expression: string): boolean {
  return expression === '' || expression.endsWith('/');
}

/** A set of characters, without the slash. */
function setOf(set: string): string {
  const isNegated = /^\[[!^]/.test(set);
  const members = set
    .slice(isNegated ? 2 : 1, -1)
    .replace(/^\]/, '\\]')
    .replaceAll(/\[(?!:)/g, '\\[');
  return isNegated ? `[^/${members}]` : `[${members}]`;
}

function namesNoFiles(glob: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The glob ${JSON.stringify(glob)} names no files.`,
    'Give one such as *.ts, src/**/*.{js,ts} or !*.md.',
  );
}
