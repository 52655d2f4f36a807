/**
 * Answers one request in each turn of the event loop, for all connections together. So a burst of requests that take some
 * milliseconds each does not block the session and the other clients.
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
