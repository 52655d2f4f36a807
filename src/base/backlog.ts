/** Backpressure: counts the bytes that wait. Above the high mark the source should pause; below the low mark it may go on. */
export class Backlog {
  readonly #highBytes: number;
  readonly #lowBytes: number;
  #bytes = 0;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(options: { readonly highBytes: number; readonly lowBytes: number }) {
    this.#highBytes = options.highBytes;
    this.#lowBytes = options.lowBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The source was asked to wait. */
  get isFull(): boolean {
    return this.#drained !== undefined;
  }

  /** Resolves when the source may go on; undefined when it need not wait. Never rejects. */
  get drained(): Promise<void> | undefined {
    return this.#drained?.promise;
  }

  /** Returns `drained`. */
  add(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes > this.#highBytes) this.#drained ??= newDeferred();
    return this.drained;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes <= this.#lowBytes) this.release();
  }

  /** Lets the source go on, however many bytes wait. */
  release(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}

function newDeferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
