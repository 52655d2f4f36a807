// Pure: prompts at the bottom of a screen: which a person’s patterns answer, and which are new.
import { RE2JS, RE2JSException } from 're2js';
import { BridgeError } from '../base/errors.js';

/** A prompt on a screen that has stopped changing. */
export interface SeenPrompt {
  readonly line: string;
  /** The row of the line; `PromptAppearance` counts from the start of the terminal, with lines that scrolled away. */
  readonly row: number;
}

/** The answer that is typed to a prompt, as a terminal echoes it. */
export const PROMPT_YES = 'y';
/** In these texts a pattern that can match the empty string (an anchor, a word boundary, a star) has an empty match. */
const PROBES = ['', 'a', ' a b\n'];
/** A terminal line has a few hundred characters; a longer one is no prompt. */
const MAX_LINE_CHARS = 2_000;

/** The user's `auto_approve_patterns`, matched by RE2, whose time is linear in the line's length for every pattern. */
export class ScreenPatterns {
  readonly #patterns: readonly string[];
  #compiled: readonly RE2JS[] | undefined;

  /** The settings were checked when they were loaded; the patterns are compiled on the first use. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  /** The lowest line that matches any pattern, ignoring case. Throws CONFIG_ERROR for a pattern that RE2 rejects or that matches the empty string. */
  match(lines: readonly string[]): SeenPrompt | undefined {
    const compiled = (this.#compiled ??= this.#patterns.map(compile));
    const row = lines.findLastIndex(
      (line) =>
        line.length <= MAX_LINE_CHARS && compiled.some((expression) => expression.matcher(line).find()),
    );
    return row === -1 ? undefined : { row, line: lines[row] ?? '' };
  }
}

function compile(pattern: string, index: number): RE2JS {
  const refused = (why: string): BridgeError =>
    new BridgeError(
      'CONFIG_ERROR',
      `auto_approve_patterns[${index}] is ${JSON.stringify(pattern)}, which cannot be used: ${why}`,
      'Write a regular expression in RE2 syntax (no look-ahead, no back-references) that matches the text of the prompt.',
    );
  try {
    const expression = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    if (!PROBES.some((probe) => hasEmptyMatch(expression, probe))) return expression;
  } catch (error) {
    if (error instanceof RE2JSException) throw refused(error.message);
    throw error;
  }
  throw refused('it matches the empty string, which is on every screen');
}

function hasEmptyMatch(expression: RE2JS, text: string): boolean {
  const matcher = expression.matcher(text);
  while (matcher.find()) if (matcher.start() === matcher.end()) return true;
  return false;
}

/**
 * Decides for each screen whether to answer: once per appearance of a prompt. A prompt is the old one when it is repainted in
 * the same row, or is only followed by the typed answer. It is new when it was gone meanwhile, is in another row or has
 * another text.
 */
export class PromptAppearance {
  #answered: SeenPrompt | undefined;

  /** True for a prompt to answer, which counts as answered then; `seen` is undefined when the screen shows none. */
  isNew(seen: SeenPrompt | undefined): boolean {
    if (seen !== undefined && this.#isAnswered(seen)) return false;
    this.#answered = seen;
    return seen !== undefined;
  }

  #isAnswered(seen: SeenPrompt): boolean {
    const before = this.#answered;
    if (before === undefined || !seen.line.startsWith(before.line)) return false;
    // In the same row, the echo and output of the program may have been appended.
    if (seen.row === before.row) return true;
    // A reflow or a clear moved it. Only the echo distinguishes it from a second prompt with the same text.
    return seen.line.slice(before.line.length).trim() === PROMPT_YES;
  }
}
