import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { Emitter, Slots } from '../base/lifecycle.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { createSecret } from '../base/ids.js';
import { headBytes } from '../base/text.js';
import { reviewComment, type ReviewComment } from './protocol.js';

const OWNER_ONLY = 0o700;
const MAX_COMMENTS = 500;
/** Of a line in the message: the model finds it by its number. */
const MAX_QUOTED_BYTES = 2_000;
const ID_CHARS = 12;
const noAbort = new AbortController().signal;

const reviewSchema = z.object({ comments: z.array(reviewComment.extend({ comment_id: z.string() })) });

/** Comments on what tasks changed that were not sent yet, in a file for each task: they outlive pages and the board's process. */
export class Reviews {
  readonly #folder: string;
  readonly #changes = new Emitter<string>();
  /** Of each task one change at a time. */
  readonly #turns = new Map<string, Slots>();
  /** A task's id, whenever its comments changed. */
  readonly onDidChange = this.#changes.event;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws STATE_UNUSABLE. */
  async of(taskId: string): Promise<readonly ReviewComment[]> {
    const read = await readJsonFile(this.#file(taskId), reviewSchema);
    if (read.state === 'corrupt')
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The comments of ${taskId} cannot be read: ${read.why}.`,
        `Remove ${this.#file(taskId)}.`,
      );
    return read.state === 'ok' ? read.value.comments : [];
  }

  /** What was reviewed is not what is there: pages look again. */
  outdated(taskId: string): void {
    this.#changes.fire(taskId);
  }

  add(taskId: string, comment: Omit<ReviewComment, 'comment_id'>): Promise<void> {
    return this.#change(taskId, (comments) => {
      if (comments.length >= MAX_COMMENTS)
        throw new BridgeError('INVALID_ARGUMENTS', 'There are 500 comments already.', 'Send or remove some.');
      const comment_id = createSecret().slice(0, ID_CHARS);
      return [...comments, { ...comment, comment_id }];
    });
  }

  remove(taskId: string, commentId: string): Promise<void> {
    return this.#change(taskId, (comments) => comments.filter((one) => one.comment_id !== commentId));
  }

  /**
   * Sends the comments, once however many pages ask for it. They are set aside first, by a rename: what a board that is killed meanwhile
   * was sending stays beside the file and is not sent again. Throws INVALID_ARGUMENTS when there are none, and as `send` does.
   */
  async submit<T>(taskId: string, send: (drafts: readonly ReviewComment[]) => Promise<T>): Promise<T> {
    return this.#alone(taskId, async () => {
      const drafts = await this.of(taskId);
      if (drafts.length === 0)
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          'There are no comments to send.',
          'Write one on a line first.',
        );
      const [file, aside] = [this.#file(taskId), `${this.#file(taskId)}.sent`];
      await rename(file, aside);
      try {
        return await send(drafts);
      } catch (error) {
        await rename(aside, file);
        throw error;
      } finally {
        this.#changes.fire(taskId);
      }
    });
  }

  #change(
    taskId: string,
    change: (comments: readonly ReviewComment[]) => readonly ReviewComment[],
  ): Promise<void> {
    return this.#alone(taskId, async () => {
      const before = await this.of(taskId);
      const comments = change(before);
      if (comments.length === before.length) return;
      await mkdir(dirname(this.#file(taskId)), { recursive: true, mode: OWNER_ONLY });
      await writeJsonFileAtomically(this.#file(taskId), { comments });
      this.#changes.fire(taskId);
    });
  }

  async #alone<T>(taskId: string, act: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(taskId) ?? new Slots(1);
    this.#turns.set(taskId, turns);
    const turn = await turns.take(noAbort);
    try {
      return await act();
    } finally {
      turn.dispose();
    }
  }

  #file(taskId: string): string {
    return join(this.#folder, `${taskId}.json`);
  }
}

/** The one message that the comments are. */
export function reviewMessage(comments: readonly ReviewComment[]): string {
  const parts = comments.map(({ file, side, line, quoted, text }) =>
    [
      `${file}, line ${line}${side === 'old' ? ' (removed)' : ''}:`,
      `> ${headBytes(quoted, MAX_QUOTED_BYTES)}`,
      text,
    ].join('\n'),
  );
  return `Comments on your changes:\n\n${parts.join('\n\n')}\n`;
}
