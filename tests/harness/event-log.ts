import type { Event } from '../../src/base/lifecycle.js';

/** Longer than anything a healthy session does, shorter than the test's own limit, so that the failure says what was missing. */
const LIMIT_MS = 30_000;

/** Records every event and hands them out by type, in order, also those that came before they were asked for. */
export class EventLog<T extends { readonly type: string }> {
  readonly all: T[] = [];
  readonly #taken = new Map<string, number>();
  #wake: () => void = () => {};

  constructor(event: Event<T>) {
    event((value) => {
      this.all.push(value);
      this.#wake();
    });
  }

  /** The next event of that type that was not handed out yet. */
  async next<Type extends T['type']>(type: Type): Promise<Extract<T, { type: Type }>> {
    const isWanted = (value: T): value is Extract<T, { type: Type }> => value.type === type;
    const index = this.#taken.get(type) ?? 0;
    this.#taken.set(type, index + 1);
    const deadlineMs = performance.now() + LIMIT_MS;
    for (;;) {
      const found = this.all.filter(isWanted)[index];
      if (found) return found;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0)
        throw new Error(`no '${type}' came; events so far: ${JSON.stringify(this.all, null, 1)}`);
      await this.#nextOrTimeout(leftMs);
    }
  }

  #nextOrTimeout(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
