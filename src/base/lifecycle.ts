// Pure: what must be released, events, and limits on what waits.
import { messageOf } from './errors.js';

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
    this.#disposed = true;
    for (const owned of this.#owned.splice(0).reverse()) owned.dispose();
  }
}

/** The part of a logger that Closers need. */
interface ErrorLog {
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/**
 * Closes in reverse order what was opened step by step, also when a later step failed. When one cannot be closed, that is
 * logged, and the rest is closed.
 */
export class Closers {
  readonly #logger: ErrorLog;
  readonly #steps: { readonly what: string; readonly close: () => unknown }[] = [];

  constructor(logger: ErrorLog) {
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

/** Calls `make` on the first call and caches its result. When it throws, all waiting callers get the error, and the next call tries again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () => {
    making ??= make().catch((error: unknown) => {
      // The cause (a full or missing disk) may be repaired before the next call.
      making = undefined;
      throw error;
    });
    return making;
  };
}

/** A semaphore: `count` callers hold a slot at the same time; the others wait, first come, first served. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a slot, which the caller disposes. Rejects with the signal's reason when it aborts first. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    return toDisposable(() => this.#giveBack());
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(go);
        reject(signal.reason instanceof Error ? signal.reason : new Error('The call was cancelled.'));
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

/** Backpressure: counts the bytes that wait. Above the high mark the source should pause; below the low mark it may go on. */
export class Backlog {
  readonly #marks: { readonly highBytes: number; readonly lowBytes: number };
  #bytes = 0;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(marks: { readonly highBytes: number; readonly lowBytes: number }) {
    this.#marks = marks;
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
    if (this.#bytes > this.#marks.highBytes) this.#drained ??= newDeferred();
    return this.drained;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes <= this.#marks.lowBytes) this.release();
  }

  /** Lets the source go on, however many bytes wait. */
  release(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}

function newDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
