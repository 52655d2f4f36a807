import { RE2JS, RE2JSException } from 're2js';
import { BridgeError, messageOf } from '../base/errors.js';
import { ignorePattern } from './ignored-pattern.js';

/** Groups of a glob such as `{ts,tsx}` are written out; each doubles the work. */
const MAX_GLOBS = 64;
/** Longer than any line that somebody looks for; what reads a pattern may take the square of its length. */
const MAX_PATTERN_CHARS = 4_000;

/** RE2 takes time for each character and each step of its program; so many of both together take about 0.1 s. */
const STEPS_AT_ONCE = 4_000_000;
/** A larger program would take seconds for a single long path. */
const MAX_PROGRAM_STEPS = 5_000;
const MAX_PIECE_CHARS = 64 * 1024;

/** Where the query is found first in `text` (UTF-16 units), or -1. */
export type FindIn = (text: string) => number;

export interface Finder {
  readonly find: FindIn;
  /** A longer text is searched in pieces of this length, so that nobody waits for seconds. */
  readonly pieceChars: number;
}

/** A fixed text is found by its characters, a regular expression by RE2. Throws INVALID_ARGUMENTS. */
export function finder(query: string, isRegex: boolean): Finder {
  mustBeShort('query', query);
  if (query === '' || /[\n\r\0]/.test(query)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      query === ''
        ? 'The query is empty.'
        : 'The query holds a line end or a NUL; lines are searched one by one.',
      'Search for a text that stands in one line.',
    );
  }
  if (!isRegex) return { find: (text) => text.indexOf(query), pieceChars: MAX_PIECE_CHARS };
  const compiled = compile(query);
  const steps = compiled.programSize();
  if (steps > MAX_PROGRAM_STEPS) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The regular expression is too large: it takes ${steps} steps, at most ${MAX_PROGRAM_STEPS} are allowed.`,
      'Use smaller repetitions, or search for a part of it.',
    );
  }
  const find = (text: string): number => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.start() : -1;
  };
  return { find, pieceChars: Math.min(MAX_PIECE_CHARS, Math.floor(STEPS_AT_ONCE / steps)) };
}

function compile(query: string): RE2JS {
  try {
    return RE2JS.compile(query);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The query is no regular expression in RE2 syntax: ${messageOf(thrown)}.`,
      'Correct it, or leave out regex to search for the text as it is.',
    );
  }
}

/** True for paths that the glob takes: by name without a slash in it, else by path, as in a .gitignore. Throws INVALID_ARGUMENTS. */
export function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  mustBeShort('glob', glob);
  const isNegated = glob.startsWith('!');
  const patterns = withoutGroups(isNegated ? glob.slice(1) : glob).map((one) => ignorePattern(one));
  const usable = patterns.filter((pattern) => pattern?.isNegated === false && !pattern.foldersOnly);
  if (usable.length === patterns.length && patterns.length > 0)
    return (path) =>
      isNegated !== usable.some((pattern) => pattern?.matches(path, path.slice(path.lastIndexOf('/') + 1)));
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The glob ${JSON.stringify(glob)} names no files.`,
    'Give one such as *.ts, src/**/*.{js,ts} or !*.md.',
  );
}

function mustBeShort(what: 'query' | 'glob', pattern: string): void {
  if (pattern.length <= MAX_PATTERN_CHARS) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The ${what} is ${pattern.length} characters long; at most ${MAX_PATTERN_CHARS} are taken.`,
    'Give a shorter one.',
  );
}

function withoutGroups(glob: string): string[] {
  const globs = [glob];
  for (;;) {
    const at = globs.findIndex((one) => /\{[^{}]*,[^{}]*\}/.test(one));
    const found = at < 0 ? null : /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/.exec(globs[at] ?? '');
    if (found === null || globs.length > MAX_GLOBS) return globs;
    const [, before = '', choices = '', after = ''] = found;
    globs.splice(at, 1, ...choices.split(',').map((choice) => before + choice + after));
  }
}

/**
 * A RE2 expression in the syntax of ripgrep, where it may match more and never less; undefined where the two differ too much.
 * What ripgrep finds is looked at again by RE2 itself.
 */
export function ripgrepExpression(query: string): string | undefined {
  let expression = '';
  let isInSet = false;
  for (let at = 0; at < query.length; at++) {
    const char = query[at] ?? '';
    if (char === '\\') {
      const next = query[++at] ?? '';
      const same = isInSet ? undefined : sameInRipgrep[next];
      if (same === undefined && !/[^0-9A-Za-z]/.test(next)) return undefined;
      expression += same ?? `\\${next}`;
    } else if (isInSet && (char === '[' || ('&-~'.includes(char) && query[at + 1] === char))) {
      return undefined;
    } else {
      if (char === '[') {
        isInSet = true;
        expression += char;
        if (query[at + 1] === '^') expression += query[++at];
        // A bracket that comes first is one of the set.
        if (query[at + 1] === ']') return undefined;
        continue;
      }
      if (char === ']') isInSet = false;
      expression += char;
    }
  }
  return expression;
}

const sameInRipgrep: Readonly<Record<string, string>> = {
  b: '(?-u:\\b)',
  w: '[0-9A-Za-z_]',
  d: '[0-9]',
  s: '[\\t\\n\\f\\r ]',
};
