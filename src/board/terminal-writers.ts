import type { Disposable } from '../base/lifecycle.js';
import { toDisposable } from '../base/lifecycle.js';

/** A page that shows a terminal. */
export interface TerminalViewer {
  /** As others see it. */
  readonly client: string;
  /** Another page writes now, or none. */
  writerChanged(writer: string | null): void;
}

interface Shown {
  readonly viewers: Set<TerminalViewer>;
  writer: TerminalViewer | undefined;
}

/** Which page types into which terminal: one at a time. */
export class TerminalWriters {
  readonly #shown = new Map<string, Shown>();

  /** The page sees the terminal until the result is disposed. */
  join(taskId: string, viewer: TerminalViewer): Disposable {
    const shown = this.#shown.get(taskId) ?? { viewers: new Set(), writer: undefined };
    this.#shown.set(taskId, shown);
    shown.viewers.add(viewer);
    return toDisposable(() => {
      shown.viewers.delete(viewer);
      this.release(taskId, viewer);
      if (shown.viewers.size === 0) this.#shown.delete(taskId);
    });
  }

  writerOf(taskId: string): string | null {
    return this.#shown.get(taskId)?.writer?.client ?? null;
  }

  /** The page writes from now on; the one before is notified. */
  claim(taskId: string, viewer: TerminalViewer): void {
    this.#set(taskId, viewer);
  }

  release(taskId: string, viewer: TerminalViewer): void {
    if (this.isWriter(taskId, viewer)) this.#set(taskId, undefined);
  }

  isWriter(taskId: string, viewer: TerminalViewer): boolean {
    return this.#shown.get(taskId)?.writer === viewer;
  }

  #set(taskId: string, writer: TerminalViewer | undefined): void {
    const shown = this.#shown.get(taskId);
    if (shown === undefined) return;
    shown.writer = writer;
    for (const viewer of shown.viewers) viewer.writerChanged(writer?.client ?? null);
  }
}
