import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { createSecret } from '../base/ids.js';
import { headBytes } from '../base/text/text.js';
import type { ReviewComment } from './state.js';

const OWNER_ONLY = 0o700;
const MAX_COMMENTS = 500;
/** Of a line in the message: the model finds it by its number. */
const MAX_QUOTED_BYTES = 2_000;
const ID_CHARS = 12;

const commentSchema = z.object({
  comment_id: z.string(),
  file: z.string(),
  side: z.enum(['old', 'new']),
  line: z.number(),
  quoted: z.string(),
  text: z.string(),
  sent_at: z.string().nullable(),
  /** It is being sent, or the board ended while it was: whether it arrived is not known. */
  is_sending: z.boolean().optional(),
});
const reviewSchema = z.object({ comments: z.array(commentSchema) });

/** A comment as it is on disk; whether it was answered follows from the lines as they are. */
export type StoredComment = z.infer<typeof commentSchema>;
type NewComment = Omit<StoredComment, 'comment_id' | 'sent_at' | 'is_sending'>;

/** Comments on what tasks changed, in a file for each task: they outlive pages and the board's process. */
export class Reviews {
  readonly #folder: string;
  readonly #changes = new Emitter<string>();
  /** By task, its last change: one at a time. */
  readonly #last = new Map<string, Promise<void>>();
  /** A task's id, whenever its comments changed. */
  readonly onDidChange = this.#changes.event;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws STATE_UNUSABLE. */
  async of(taskId: string): Promise<readonly StoredComment[]> {
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

  add(taskId: string, comment: NewComment): Promise<void> {
    return this.#change(taskId, (comments) => {
      if (comments.length >= MAX_COMMENTS)
        throw new BridgeError('INVALID_ARGUMENTS', 'There are 500 comments already.', 'Send or remove some.');
      const comment_id = createSecret().slice(0, ID_CHARS);
      return [...comments, { ...comment, comment_id, sent_at: null }];
    });
  }

  remove(taskId: string, commentId: string): Promise<void> {
    return this.#change(taskId, (comments) => {
      const rest = comments.filter(({ comment_id }) => comment_id !== commentId);
      return rest.length === comments.length ? comments : rest;
    });
  }

  /** Sends the comments that were not sent, once however many pages ask for it. Throws INVALID_ARGUMENTS when there are none, and as `send` does. */
  submit(
    taskId: string,
    at: string,
    send: (drafts: readonly StoredComment[]) => Promise<void>,
  ): Promise<void> {
    return this.#change(taskId, async (comments) => {
      const drafts = comments.filter(({ sent_at }) => sent_at === null);
      if (drafts.length === 0)
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          'There are no comments to send.',
          'Write one on a line first.',
        );
      const sent = comments.map((one) => (one.sent_at === null ? { ...one, sent_at: at } : one));
      // First the file: what cannot be noted is not sent, so that nothing is sent twice.
      await this.#write(
        taskId,
        sent.map((one, i) => (one === comments[i] ? one : { ...one, is_sending: true })),
      );
      try {
        await send(drafts);
      } catch (error) {
        await this.#write(taskId, comments);
        throw error;
      }
      return sent;
    });
  }

  #change(
    taskId: string,
    change: (
      comments: readonly StoredComment[],
    ) => readonly StoredComment[] | Promise<readonly StoredComment[]>,
  ): Promise<void> {
    const changing = (this.#last.get(taskId) ?? Promise.resolve()).then(async () => {
      const before = await this.of(taskId);
      const comments = await change(before);
      if (comments === before) return;
      await this.#write(taskId, comments);
      this.#changes.fire(taskId);
    });
    // An error is reported to who asked for that change.
    const settled = changing
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(taskId) === settled) this.#last.delete(taskId);
      });
    this.#last.set(taskId, settled);
    return changing;
  }

  async #write(taskId: string, comments: readonly StoredComment[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY });
    await writeJsonFileAtomically(this.#file(taskId), { comments });
  }

  #file(taskId: string): string {
    return join(this.#folder, `${taskId}.json`);
  }
}

/** As a page shows it. `isThere` says whether the file still has the line. */
export function shownComment(
  { sent_at, is_sending: isSending = false, ...comment }: StoredComment,
  isThere: (comment: StoredComment) => boolean,
): ReviewComment {
  if (sent_at === null) return { ...comment, state: 'draft' };
  if (isSending) return { ...comment, state: 'unsure' };
  return { ...comment, state: isThere({ ...comment, sent_at }) ? 'sent' : 'answered' };
}

/** The one message that the comments are. */
export function reviewMessage(comments: readonly StoredComment[]): string {
  const parts = comments.map(({ file, side, line, quoted, text }) =>
    [
      `${file}, line ${line}${side === 'old' ? ' (removed)' : ''}:`,
      `> ${headBytes(quoted, MAX_QUOTED_BYTES)}`,
      text,
    ].join('\n'),
  );
  return `Comments on your changes:\n\n${parts.join('\n\n')}\n`;
}
