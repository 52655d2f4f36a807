// Pure.
import { RE2JS, RE2JSException } from 're2js';
import { BridgeError, messageOf } from '../../base/errors.js';

/** Longer than any line that a caller searches for. Parsing a pattern may take time quadratic in its length. */
const MAX_PATTERN_CHARS = 4_000;
/** RE2's time is the product of characters and program steps; this product takes about 0.1 s. */
const STEPS_AT_ONCE = 4_000_000;
/** A larger program would take seconds for a single long path. */
const MAX_PROGRAM_STEPS = 5_000;
const MAX_PIECE_CHARS = 64 * 1024;

export interface SearchQuery {
  readonly query: string;
  readonly path?: string | undefined;
  readonly regex?: boolean | undefined;
  /** True to search paths instead of contents. */
  readonly names?: boolean | undefined;
  readonly glob?: string | undefined;
  readonly context?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** Ignored files are searched, too. */
  readonly ignored?: boolean | undefined;
}

/** The index of the first match in `text` (UTF-16 units), or -1. */
export type FindIn = (text: string) => number;

export interface Finder {
  readonly find: FindIn;
  /** A longer text is searched in pieces of this length, so that other calls do not wait for seconds. */
  readonly pieceChars: number;
}

/** Finds a literal text, or a regular expression with RE2. Throws INVALID_ARGUMENTS. */
export function finder(query: string, isRegex: boolean): Finder {
  requireShort('query', query);
  if (query === '' || /[\n\r\0]/.test(query)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      query === ''
        ? 'The query is empty.'
        : 'The query contains a line end or a NUL, but lines are searched one by one.',
      'Search for a text within one line.',
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
      `Invalid regular expression in RE2 syntax: ${messageOf(thrown)}.`,
      'Correct it, or omit regex to search for the literal text.',
    );
  }
}

/** Throws INVALID_ARGUMENTS. */
export function requireShort(what: 'query' | 'glob', pattern: string): void {
  if (pattern.length <= MAX_PATTERN_CHARS) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The ${what} is ${pattern.length} characters long; at most ${MAX_PATTERN_CHARS} are allowed.`,
    'Use a shorter one.',
  );
}
