// Pure.
import { toDisposable, type Disposable } from './lifecycle.js';

/** Subscribes a listener; dispose the result to unsubscribe. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** A typed source of events. Listeners run synchronously, in the order in which they subscribed. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener) => {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

/** Resolves with the next value for which `accept` returns true. */
export function nextEvent<T>(event: Event<T>, accept: (value: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve) => {
    const subscription = event((value) => {
      if (!accept(value)) return;
      subscription.dispose();
      resolve(value);
    });
  });
}
