// Pure.
import { messageOf } from './errors.js';
import type { Disposable } from './lifecycle.js';
import type { Logger } from './logger.js';

/**
 * Closes in reverse order what was opened step by step, also when a later step failed. When one cannot be closed, that is
 * logged, and the rest is closed.
 */
export class Closers {
  readonly #logger: Logger;
  readonly #steps: { readonly what: string; readonly close: () => unknown }[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(what: string, close: () => unknown): void {
    this.#steps.push({ what, close });
  }

  owns<T extends Disposable>(what: string, owned: T): T {
    this.add(what, () => owned.dispose());
    return owned;
  }

  async close(): Promise<void> {
    for (const { what, close } of this.#steps.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        this.#logger.error('something could not be closed', { what, error: messageOf(error) });
      }
    }
  }
}
