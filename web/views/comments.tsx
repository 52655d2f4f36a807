import type { DiffLine } from '../../src/board/parse-hunks.js';
import type { ReviewComment } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { useAction, Button } from './parts.js';
import { SendBox } from './text-box.js';

/** A line that is commented on. It is found again by its words and its number when the changes change. */
export type Commented = Pick<ReviewComment, 'file' | 'side' | 'line' | 'quoted'>;

/** The comments that are not sent yet, and the line that is being written about. */
export interface Review {
  readonly store: Store;
  readonly taskId: string;
  readonly comments: readonly ReviewComment[];
  readonly writing: Commented | undefined;
  readonly onWriting: (at: Commented | undefined) => void;
}

/** The line in its file; undefined for the head of a hunk. */
export function commentedLine(file: string, line: DiffLine): Commented | undefined {
  const side = line.kind === 'removed' ? 'old' : 'new';
  const number = side === 'old' ? line.old : line.now;
  return number === undefined ? undefined : { file, side, line: number, quoted: line.text };
}

/** The same for the same line; empty for none. */
export function lineKey(at: Commented | undefined): string {
  return at === undefined ? '' : JSON.stringify([at.file, at.side, at.line, at.quoted]);
}

interface CommentsProps extends Review {
  readonly at: Commented;
}

/** Of a line: its comments, and the box for one more. */
export function CommentsAt({ store, taskId, comments, writing, onWriting, at }: CommentsProps) {
  return (
    <>
      {comments
        .filter((one) => lineKey(one) === lineKey(at))
        .map(({ text, comment_id }) => (
          <div key={comment_id} class="comment">
            <p dir="auto" class="words">
              {visible(text)}
            </p>
            <p class="quiet">
              Not sent yet.{' '}
              <Button
                look="small plain"
                act={() => void store.act({ type: 'review.remove', task_id: taskId, comment_id })}
              >
                Remove
              </Button>
            </p>
          </div>
        ))}
      {lineKey(writing) === lineKey(at) && (
        <CommentBox {...{ store, taskId, at }} onClose={() => onWriting(undefined)} />
      )}
    </>
  );
}

interface BoxProps extends Pick<CommentsProps, 'store' | 'taskId' | 'at'> {
  readonly onClose: () => void;
}

/** A comment that is being written; its words stay while the page is open. */
function CommentBox({ store, taskId, at, onClose }: BoxProps) {
  const { send, ...action } = useAction(store);
  return (
    <SendBox
      place={`comment ${taskId} ${lineKey(at)}`}
      label="Comment"
      hint="What should change here?"
      button="Add comment"
      action={action}
      onCancel={onClose}
      onSend={(text, done) =>
        send({ type: 'review.add', task_id: taskId, ...at, text }, () => {
          done();
          onClose();
        })
      }
    />
  );
}

/** Comments on lines that are no longer there, also the one that is being written. `there` has the keys of all lines. */
export function LostComments({ there, ...review }: Review & { readonly there: ReadonlySet<string> }) {
  const all = [...review.comments, ...(review.writing === undefined ? [] : [review.writing])];
  const lost = new Map(all.map((one) => [lineKey(one), one] as const).filter(([key]) => !there.has(key)));
  return (
    <>
      {[...lost].map(([key, at]) => (
        <div key={key} class="comments">
          <p class="path quiet">
            {visible(at.file)}, line {at.line}: {visible(at.quoted)}
          </p>
          {key === lineKey(review.writing) && (
            <p class="quiet">The line has moved or changed since you began to write.</p>
          )}
          <CommentsAt {...review} at={at} />
        </div>
      ))}
    </>
  );
}
