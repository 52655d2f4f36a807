import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { createSecret } from '../base/ids.js';
import type { ReviewComment } from './state.js';

const OWNER_ONLY = 0o700;
const MAX_COMMENTS = 500;
const ID_CHARS = 12;

const commentSchema = z.object({
  comment_id: z.string(),
  file: z.string(),
  side: z.enum(['old', 'new']),
  line: z.number(),
  quoted: z.string(),
  text: z.string(),
  sent_at: z.string().nullable(),
});
const reviewSchema = z.object({ comments: z.array(commentSchema) });

/** A comment as it is on disk; whether it was answered follows from the lines as they are. */
export type StoredComment = z.infer<typeof commentSchema>;
type NewComment = Omit<StoredComment, 'comment_id' | 'sent_at'>;

/** Comments on what tasks changed, in a file for each task: they outlive pages and the board's process. */
export class Reviews {
  readonly #folder: string;
  readonly #changes = new Emitter<string>();
  /** One change at a time. */
  #last: Promise<unknown> = Promise.resolve();
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

  add(taskId: string, comment: NewComment): Promise<void> {
    return this.#change(taskId, (comments) => {
      if (comments.length >= MAX_COMMENTS)
        throw new BridgeError('INVALID_ARGUMENTS', 'There are 500 comments already.', 'Send or remove some.');
      const comment_id = createSecret().slice(0, ID_CHARS);
      return [...comments, { ...comment, comment_id, sent_at: null }];
    });
  }

  remove(taskId: string, commentId: string): Promise<void> {
    return this.#change(taskId, (comments) => comments.filter(({ comment_id }) => comment_id !== commentId));
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
      await send(drafts);
      return comments.map((one) => ({ ...one, sent_at: one.sent_at ?? at }));
    });
  }

  #change(
    taskId: string,
    change: (
      comments: readonly StoredComment[],
    ) => readonly StoredComment[] | Promise<readonly StoredComment[]>,
  ): Promise<void> {
    const changing = this.#last.then(async () => {
      await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY });
      const comments = await change(await this.of(taskId));
      await writeJsonFileAtomically(this.#file(taskId), { comments });
      this.#changes.fire(taskId);
    });
    // An error is reported to who asked for that change.
    this.#last = changing.catch(() => undefined);
    return changing;
  }

  #file(taskId: string): string {
    return join(this.#folder, `${taskId}.json`);
  }
}

/** As a page shows it. `isThere` says whether the file still has the line. */
export function shownComment(
  { sent_at, ...comment }: StoredComment,
  isThere: (comment: StoredComment) => boolean,
): ReviewComment {
  if (sent_at === null) return { ...comment, state: 'draft' };
  return { ...comment, state: isThere({ ...comment, sent_at }) ? 'sent' : 'answered' };
}

/** The one message that the comments are. */
export function reviewMessage(comments: readonly StoredComment[]): string {
  const parts = comments.map(({ file, side, line, quoted, text }) =>
    [`${file}, line ${line}${side === 'old' ? ' (removed)' : ''}:`, `> ${quoted}`, text].join('\n'),
  );
  return `Comments on your changes:\n\n${parts.join('\n\n')}\n`;
}
