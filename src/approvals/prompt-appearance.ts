// Pure: tells a new prompt on the screen from one that was already answered.

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
