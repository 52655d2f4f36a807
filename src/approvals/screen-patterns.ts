// Pure: prompts at the bottom of a screen: which a person’s patterns answer, and which are new.
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

/** A prompt on a screen that has stopped changing. */
export interface SeenPrompt {
  readonly line: string;
  /** Line number since the terminal started, including lines that scrolled away. */
  readonly row: number;
}

/**
 * Decides for each screen whether to answer: once per appearance of a prompt. A prompt is the old one when it is repainted in
 * the same row, or is only followed by the typed answer. It is new when it was gone meanwhile, is in another row or has
 * another text.
 */
export class PromptAppearance {
  readonly #typed: string;
  #answered: SeenPrompt | undefined;

  /** `typed` is the answer as a terminal echoes it, `y` for instance. */
  constructor(typed: string) {
    this.#typed = typed.trim();
  }

  /** `seen` is undefined when the screen shows no prompt. After `answer` is returned, the prompt counts as answered. */
  observe(seen: SeenPrompt | undefined): 'answer' | 'nothing' {
    if (seen !== undefined && this.#isAnswered(seen)) return 'nothing';
    this.#answered = seen;
    return seen === undefined ? 'nothing' : 'answer';
  }

  #isAnswered(seen: SeenPrompt): boolean {
    const before = this.#answered;
    if (before === undefined || !seen.line.startsWith(before.line)) return false;
    // In the same row, the echo and output of the program may have been appended.
    if (seen.row === before.row) return true;
    // A reflow or a clear moved it. Only the echo distinguishes it from a second prompt with the same text.
    return this.#typed !== '' && seen.line.slice(before.line.length).trim() === this.#typed;
  }
}
