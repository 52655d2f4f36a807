// Pure: prompts at the bottom of a screen: which a person’s patterns answer, and which are new.
import { RE2JS } from 're2js';

/** A prompt on a screen that has stopped changing. */
export interface SeenPrompt {
  readonly line: string;
  /** The row of the line; `PromptAppearance` counts from the start of the terminal, with lines that scrolled away. */
  readonly row: number;
}

/** The answer that is typed to a prompt, as a terminal echoes it. */
export const PROMPT_YES = 'y';
/** A terminal line has a few hundred characters; a longer one is no prompt. */
const MAX_LINE_CHARS = 2_000;

/**
 * Finds the lowest line that matches one of `auto_approve_patterns`, ignoring case. They were checked when the settings were read; the time
 * of RE2 is linear in the line's length for every pattern.
 */
export function promptFinder(
  patterns: readonly string[],
): (lines: readonly string[]) => SeenPrompt | undefined {
  const expressions = patterns.map((pattern) => RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE));
  return (lines) => {
    const row = lines.findLastIndex(
      (line) => line.length <= MAX_LINE_CHARS && expressions.some((one) => one.matcher(line).find()),
    );
    return row === -1 ? undefined : { row, line: lines[row] ?? '' };
  };
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
