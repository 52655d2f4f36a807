// Pure.
import { RE2JS, RE2JSException } from 're2js';
import { BridgeError } from '../../base/errors.js';
import { requireShort } from './search-query.js';

/**
 * Returns a filter for paths. As in a .gitignore, a glob without a slash matches names, and any other matches paths; `{a,b}` matches
 * either one. The glob becomes an RE2 expression, so the time is linear in the path. Throws INVALID_ARGUMENTS.
 */
export function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  requireShort('glob', glob);
  const isNegated = glob.startsWith('!');
  const pattern = isNegated ? glob.slice(1) : glob;
  const hasSlash = pattern.includes('/');
  const flaw = flawOf(pattern);
  if (flaw !== undefined) throw invalidGlob(glob, flaw);
  try {
    const compiled = RE2JS.compile(expressionOf(pattern.replace(/^\//, '')));
    return (path) => isNegated !== compiled.matches(hasSlash ? path : path.slice(path.lastIndexOf('/') + 1));
  } catch (thrown) {
    if (thrown instanceof RE2JSException) throw invalidGlob(glob, 'cannot match any file');
    throw thrown;
  }
}

/** The tokens of a glob. */
const TOKENS =
  /\\(?<escaped>.)|(?<folders>(?:(?<=^|\/)\*{2,}\/)+)|(?<stars>\*+)|(?<one>\?)|(?<set>\[[!^]?\]?(?:\\.|[^\]\\])*\])|(?<other>.)/gsu;

/** Why the pattern is refused; undefined for a good one. */
function flawOf(pattern: string): string | undefined {
  if (pattern.trim() === '' || pattern.endsWith('/')) return 'cannot match any file';
  // As in a .gitignore, where these are a comment and a second negation.
  if (/^[#!]/.test(pattern)) return `begins with ${pattern.startsWith('#') ? '#, as a comment' : '!!'}`;
  let groups = 0;
  for (const { groups: { other } = {} } of pattern.matchAll(TOKENS)) {
    if (other === '[') return 'has a [ without its ]';
    if (other === '{') groups++;
    if (other === '}' && --groups < 0) return 'has a } without its {';
  }
  return groups > 0 ? 'has a { without its }' : undefined;
}

/** The expression of a pattern without a flaw. */
function expressionOf(glob: string): string {
  let groups = 0;
  let expression = '';
  for (const { groups: part = {} } of glob.matchAll(TOKENS)) {
    const { escaped, folders, stars, one, set, other = '' } = part;
    if (escaped !== undefined) expression += RE2JS.quote(escaped);
    else if (folders !== undefined) expression += '(?:[^/]+/)*';
    else if (stars !== undefined) expression += stars.length > 1 && isAfterSlash(expression) ? '.*' : '[^/]*';
    else if (one !== undefined) expression += '[^/]';
    else if (set !== undefined) expression += setOf(set);
    else if (other === '{') {
      groups++;
      expression += '(?:';
    } else if (other === '}') {
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

/** A character set, which never matches a slash. */
function setOf(set: string): string {
  const isNegated = /^\[[!^]/.test(set);
  const members = set
    .slice(isNegated ? 2 : 1, -1)
    .replace(/^\]/, '\\]')
    .replaceAll(/\[(?!:)/g, '\\[');
  return isNegated ? `[^/${members}]` : `[${members}]`;
}

function invalidGlob(glob: string, flaw: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The glob ${JSON.stringify(glob)} ${flaw}.`,
    'Use one such as *.ts, src/**/*.{js,ts} or !*.md; a backslash before a character makes it an ordinary one.',
  );
}
