// Pure: has a prompt appeared again, or is it the one that was answered?

/** A prompt seen on a settled screen. */
export interface SeenPrompt {
  readonly line: string;
  /** Number of the line since the terminal began, lines that scrolled away counted. */
  readonly row: number;
}

/**
 * Told what each settled screen shows, says when to answer: once per appearance. A prompt that is repainted in its place, or
 * that merely has the typed answer behind it, is the old one; one that was away, stands on another row or reads
 * differently is new.
 */
export class PromptAppearance {
  readonly #typed: string;
  #answered: SeenPrompt | undefined;

  /** `typed` is the answer as a terminal echoes it, `y` for instance. */
  constructor(typed: string) {
    this.#typed = typed.trim();
  }

  /** `undefined` when no prompt is on the screen. After `answer` the prompt counts as answered. */
  observe(seen: SeenPrompt | undefined): 'answer' | 'nothing' {
    if (seen !== undefined && this.#isAnswered(seen)) return 'nothing';
    this.#answered = seen;
    return seen === undefined ? 'nothing' : 'answer';
  }

  #isAnswered(seen: SeenPrompt): boolean {
    const before = this.#answered;
    if (before === undefined || !seen.line.startsWith(before.line)) return false;
    // On its own row it may have grown by the echo and by what the program says behind it.
    if (seen.row === before.row) return true;
    // A reflow or a clear moved it: only the echo tells it from a second prompt of the same words.
    return this.#typed !== '' && seen.line.slice(before.line.length).trim() === this.#typed;
  }
}
