// Pure.
import { Emitter } from '../../../../src/base/event.js';
import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { TaskDocument } from './document-uri.js';
import type { FollowedDiffs, HeldDiff } from './followed-diffs.js';

/** A changed file that is shown in a diff editor. */
export interface OpenChange {
  readonly taskId: string;
  readonly file: string;
}

/**
 * The changed files that are open. What a task changed is followed while a tab has a document of the board's text for it: the left side
 * of a diff always is one.
 */
export class OpenChanges implements Disposable {
  readonly #diffs: FollowedDiffs;
  readonly #documents = new Map<string, { readonly document: TaskDocument; readonly held: HeldDiff }>();
  /** Whose diff was in front last. */
  #frontTask: string | undefined;
  /** By task and file: the file on disk that is its right side. */
  readonly #places = new Map<string, string>();
  readonly #changes = new Emitter<void>();
  /** A change was opened or closed, or its place became known, or the diff of another task is in front. */
  readonly onChange = this.#changes.event;

  constructor(diffs: FollowedDiffs) {
    this.#diffs = diffs;
  }

  /**
   * These documents of the board's text are open, and no others; `frontTask`: whose diff is in front, if one is. Returns those that
   * were not open before.
   */
  show(documents: readonly TaskDocument[], frontTask?: string): readonly TaskDocument[] {
    const shown = new Map(documents.map((document) => [documentKey(document), document]));
    const opened = [...shown].filter(([key]) => !this.#documents.has(key));
    const closed = [...this.#documents].filter(([key]) => !shown.has(key));
    for (const [key, document] of opened)
      this.#documents.set(key, { document, held: this.#diffs.hold(document.taskId) });
    for (const [key, { document, held }] of closed) {
      this.#documents.delete(key);
      if (!this.isOpen(document)) this.#places.delete(changeKey(document));
      held.dispose();
    }
    const isOtherFront = frontTask !== undefined && frontTask !== this.#frontTask;
    if (isOtherFront) this.#frontTask = frontTask;
    if (isOtherFront || opened.length + closed.length > 0) this.#changes.fire();
    return opened.map(([, document]) => document);
  }

  /** The right side of a change is this file on disk. */
  setPlace(change: OpenChange, path: string): void {
    this.#places.set(changeKey(change), path);
    this.#changes.fire();
  }

  placeOf(change: OpenChange): string | undefined {
    return this.#places.get(changeKey(change));
  }

  /** The change whose right side is this file on disk; of several tasks' the one whose diff was in front last. */
  atPlace(path: string): OpenChange | undefined {
    const changes = this.all().filter((change) => this.placeOf(change) === path);
    return changes.find(({ taskId }) => taskId === this.#frontTask) ?? changes[0];
  }

  /** Each once, of one task or of all. */
  all(taskId?: string): readonly OpenChange[] {
    const changes = new Map<string, OpenChange>();
    for (const { document } of this.#documents.values())
      if (taskId === undefined || document.taskId === taskId)
        changes.set(changeKey(document), { taskId: document.taskId, file: document.file });
    return [...changes.values()];
  }

  isOpen({ taskId, file }: OpenChange): boolean {
    return this.all(taskId).some((open) => open.file === file);
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
    this.#changes.dispose();
  }
}

function changeKey({ taskId, file }: OpenChange): string {
  return `${taskId}/${file}`;
}

function documentKey(document: TaskDocument): string {
  return `${document.side} ${document.name.length} ${document.name} ${changeKey(document)}`;
}
