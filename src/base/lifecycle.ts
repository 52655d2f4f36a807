// Pure.
/** Owns a resource until it is disposed. Disposing twice is harmless. */
export interface Disposable {
  dispose(): void;
}

/** A Disposable that runs `release` once. */
export function toDisposable(release: () => void): Disposable {
  let isDisposed = false;
  return {
    dispose: () => {
      if (isDisposed) return;
      isDisposed = true;
      release();
    },
  };
}

/** Owns Disposables, and disposes the newest first. */
export class DisposableStore implements Disposable {
  readonly #owned: Disposable[] = [];
  #disposed = false;

  /** Takes ownership; a store that is already disposed disposes `owned` immediately. */
  add<T extends Disposable>(owned: T): T {
    if (this.#disposed) owned.dispose();
    else this.#owned.push(owned);
    return owned;
  }

  get isDisposed(): boolean {
    return this.#disposed;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const owned of this.#owned.splice(0).reverse()) owned.dispose();
  }
}
