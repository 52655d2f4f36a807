// Pure.
import type { Clock } from '../../base/clock.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';

export interface LastServerOptions {
  readonly clock: Clock;
  /** How long the task may run without a server; undefined for a task that needs none. */
  readonly graceSeconds: number | undefined;
  readonly onAlone: (reason: string) => void;
}

/** Counts the connected servers, and calls `onAlone` when the last one has gone and none came back in time. */
export class LastServer implements Disposable {
  readonly #options: LastServerOptions;
  #servers = 0;
  #grace: Disposable | undefined;

  constructor(options: LastServerOptions) {
    this.#options = options;
    // The server that starts the task connects once the task runs, but may die before.
    this.#wait();
  }

  get isNeeded(): boolean {
    return this.#options.graceSeconds !== undefined;
  }

  /** A server has connected; dispose the result when it has gone. */
  came(): Disposable {
    this.#servers++;
    this.#grace?.dispose();
    return toDisposable(() => {
      this.#servers--;
      if (this.#servers === 0) this.#wait();
    });
  }

  dispose(): void {
    this.#grace?.dispose();
    this.#grace = undefined;
  }

  #wait(): void {
    const { clock, graceSeconds, onAlone } = this.#options;
    if (graceSeconds === undefined) return;
    this.#grace = clock.after(graceSeconds * 1000, () =>
      onAlone(
        `Its last server had gone, and none came back within ${graceSeconds} seconds (on_disconnect is "stop").`,
      ),
    );
  }
}
