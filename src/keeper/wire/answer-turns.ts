/**
 * One request is answered in each turn of the event loop, whichever connection it came on. So many requests at once, each
 * of which takes some milliseconds, do not keep the process from its session and its other clients.
 */
export class AnswerTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#schedule();
    });
  }

  #schedule(): void {
    setImmediate(() => {
      this.#waiting[0]?.();
      this.#waiting.shift();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
