// Pure.
import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { TaskDocument } from './document-uri.js';
import type { FollowedDiffs, HeldDiff } from './followed-diffs.js';

/**
 * The changed files that are open. What a task changed is followed while a tab has a document of the board's text for it: the left side
 * of a diff always is one.
 */
export class OpenChanges implements Disposable {
  readonly #diffs: FollowedDiffs;
  readonly #documents = new Map<string, { readonly document: TaskDocument; readonly held: HeldDiff }>();

  constructor(diffs: FollowedDiffs) {
    this.#diffs = diffs;
  }

  /** These documents of the board's text are open, and no others. Returns those that were not open before. */
  show(documents: readonly TaskDocument[]): readonly TaskDocument[] {
    const shown = new Map(documents.map((document) => [documentKey(document), document]));
    const opened = [...shown].filter(([key]) => !this.#documents.has(key));
    const closed = [...this.#documents].filter(([key]) => !shown.has(key));
    for (const [key, document] of opened)
      this.#documents.set(key, { document, held: this.#diffs.hold(document.taskId) });
    for (const [key, { held }] of closed) {
      this.#documents.delete(key);
      held.dispose();
    }
    return opened.map(([, document]) => document);
  }

  /** The open documents with the board's text. */
  documents(taskId: string): readonly TaskDocument[] {
    return [...this.#documents.values()]
      .map(({ document }) => document)
      .filter((document) => document.taskId === taskId);
  }

  dispose(): void {
    for (const { held } of this.#documents.values()) held.dispose();
    this.#documents.clear();
  }
}

function documentKey({ taskId, file, side, name }: TaskDocument): string {
  return JSON.stringify([taskId, file, side, name]);
}
