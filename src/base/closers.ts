import { messageOf } from './errors.js';
import type { Disposable } from './lifecycle.js';
import type { Logger } from './logger.js';

/**
 * What was opened, step by step, and is closed in reverse order, whether all steps succeeded or not. What cannot be closed is
 * logged, and the rest is closed all the same.
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
        this.#logger.error('something could not be closed', { what, fault: messageOf(error) });
      }
    }
  }
}
