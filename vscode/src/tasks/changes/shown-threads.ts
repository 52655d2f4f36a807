import type { ThreadView } from './comment-threads.js';

/** A thread in the editor. */
export interface ShownThread {
  show(view: ThreadView): void;
  dispose(): void;
}

/** A comment that is not stored yet. */
export interface WrittenComment {
  readonly document: string;
  /** Counts from 1. */
  readonly line: number;
  readonly text: string;
}

/** The threads of open documents, by document and line. */
export class ShownThreads {
  readonly #make: (document: string, line: number) => ShownThread;
  readonly #threads = new Map<string, Map<number, ShownThread>>();
  readonly #pending = new Map<ShownThread, { readonly text: string; readonly stored: Promise<void> }>();

  /** `make` adds a thread at a line, counted from 1. */
  constructor(make: (document: string, line: number) => ShownThread) {
    this.#make = make;
  }

  /** Makes the threads of a document those of `views`. One whose comment is being stored stays. */
  sync(document: string, views: readonly ThreadView[]): void {
    const threads = this.#of(document);
    for (const view of views) {
      const thread = threads.get(view.line) ?? this.#make(document, view.line);
      threads.set(view.line, thread);
      thread.show(view);
    }
    for (const [line, thread] of threads) {
      if (views.some((view) => view.line === line) || this.#pending.has(thread)) continue;
      threads.delete(line);
      thread.dispose();
    }
  }

  /**
   * Stores a comment that the person wrote in a thread, once however often it is asked for meanwhile. The thread becomes that of its
   * line, unless the line has one. When `store` rejects, the thread stays as the person left it.
   */
  async write(
    { document, line, text }: WrittenComment,
    thread: ShownThread,
    store: () => Promise<void>,
  ): Promise<void> {
    const same = this.#pending.get(thread);
    if (same?.text === text) return same.stored;
    const threads = this.#of(document);
    const before = threads.get(line);
    if (before === undefined) threads.set(line, thread);
    const pending = { text, stored: Promise.resolve().then(store) };
    this.#pending.set(thread, pending);
    try {
      await pending.stored;
    } catch (error) {
      if (before === undefined && threads.get(line) === thread) threads.delete(line);
      throw error;
    } finally {
      if (this.#pending.get(thread) === pending) this.#pending.delete(thread);
    }
    if (before !== undefined && before !== thread) thread.dispose();
  }

  /** Takes away the threads of all other documents. */
  retain(documents: ReadonlySet<string>): void {
    for (const document of [...this.#threads.keys()]) if (!documents.has(document)) this.#close(document);
  }

  dispose(): void {
    this.retain(new Set());
  }

  #close(document: string): void {
    for (const thread of this.#threads.get(document)?.values() ?? []) thread.dispose();
    this.#threads.delete(document);
  }

  #of(document: string): Map<number, ShownThread> {
    const threads = this.#threads.get(document) ?? new Map<number, ShownThread>();
    this.#threads.set(document, threads);
    return threads;
  }
}
