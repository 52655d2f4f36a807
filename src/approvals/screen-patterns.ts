// Pure.
import { RE2JS, RE2JSException } from 're2js';
import { BridgeError } from '../base/errors.js';

export interface ScreenMatch {
  /** The pattern as the user wrote it. */
  readonly pattern: string;
  readonly line: string;
  /** Index of the line in `bottomLines`. */
  readonly index: number;
}

/** In these texts a pattern that can match the empty string (an anchor, a word boundary, a star) has an empty match. */
const PROBES = ['', 'a', ' a b\n'];
/** A terminal line has a few hundred characters; a longer one is no prompt. */
const MAX_LINE_CHARS = 2_000;

/** The user's `auto_approve_patterns`, matched by RE2, whose time is linear in the line's length for every pattern. */
export class ScreenPatterns {
  readonly #patterns: readonly string[];
  #compiled: readonly { readonly pattern: string; readonly expression: RE2JS }[] | undefined;

  /** The settings were checked when they were loaded; the patterns are compiled on the first use. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  /**
   * The lowest line that matches any pattern, ignoring case; patterns are tried in their order. Throws CONFIG_ERROR for a
   * pattern that RE2 rejects or that matches the empty string.
   */
  match(bottomLines: readonly string[]): ScreenMatch | undefined {
    const compiled = (this.#compiled ??= this.#patterns.map((pattern, index) => ({
      pattern,
      expression: compile(pattern, index),
    })));
    for (const [index, line] of [...bottomLines.entries()].reverse()) {
      if (line.length > MAX_LINE_CHARS) continue;
      const hit = compiled.find(({ expression }) => expression.matcher(line).find());
      if (hit !== undefined) return { pattern: hit.pattern, line, index };
    }
    return undefined;
  }
}

function compile(pattern: string, index: number): RE2JS {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw refused(pattern, index, error.message);
  }
  if (PROBES.some((probe) => hasEmptyMatch(expression, probe))) {
    throw refused(pattern, index, 'it matches the empty string, which is on every screen');
  }
  return expression;
}

function hasEmptyMatch(expression: RE2JS, text: string): boolean {
  const matcher = expression.matcher(text);
  while (matcher.find()) if (matcher.start() === matcher.end()) return true;
  return false;
}

function refused(pattern: string, index: number, why: string): BridgeError {
  return new BridgeError(
    'CONFIG_ERROR',
    `auto_approve_patterns[${index}] is ${JSON.stringify(pattern)}, which cannot be used: ${why}`,
    'Write a regular expression in RE2 syntax (no look-ahead, no back-references) that matches the text of the prompt.',
  );
}
