import type { DiffLine } from '../../src/board/parse-hunks.js';
import type { ReviewComment } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { useAction, Button } from './parts.js';
import { SendBox } from './text-box.js';

/** A line that is commented on. It is found again by its words and its number when the changes change. */
export type Commented = Pick<ReviewComment, 'file' | 'side' | 'line' | 'quoted'>;

/** The line in its file; undefined for the head of a hunk. */
export function commentedLine(file: string, line: DiffLine): Commented | undefined {
  const side = line.kind === 'removed' ? 'old' : 'new';
  const number = side === 'old' ? line.old : line.now;
  return number === undefined ? undefined : { file, side, line: number, quoted: line.text };
}

export function isSameLine(one: Commented, other: Commented): boolean {
  return lineKey(one) === lineKey(other);
}

function lineKey({ file, side, line, quoted }: Commented): string {
  return JSON.stringify([file, side, line, quoted]);
}

interface CommentProps {
  readonly store: Store;
  readonly taskId: string;
  readonly comment: ReviewComment;
}

/** A comment that was not sent yet. */
export function Comment({ store, taskId, comment: { text, comment_id } }: CommentProps) {
  return (
    <div class="comment">
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
  );
}

interface BoxProps {
  readonly store: Store;
  readonly taskId: string;
  readonly at: Commented;
  readonly onClose: () => void;
}

/** A comment that is being written; its words stay while the page is open. */
export function CommentBox({ store, taskId, at, onClose }: BoxProps) {
  const { send, ...action } = useAction(store);
  return (
    <SendBox
      place={`comment ${taskId} ${lineKey(at)}`}
      label="Comment"
      hint="What is to be different here?"
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

interface LostProps {
  readonly store: Store;
  readonly taskId: string;
  readonly comments: readonly ReviewComment[];
  /** The line that is being written about. */
  readonly writing: Commented | undefined;
  readonly onClose: () => void;
  readonly isThere: (line: Commented) => boolean;
}

/** Comments on lines that are no longer there, also the one that is being written. */
export function LostComments({ store, taskId, comments, writing, onClose, isThere }: LostProps) {
  const isWritingLost = writing !== undefined && !isThere(writing);
  return (
    <>
      {comments
        .filter((comment) => !isThere(comment))
        .map((comment) => (
          <div key={comment.comment_id} class="comments">
            <QuotedLine at={comment} />
            <Comment store={store} taskId={taskId} comment={comment} />
          </div>
        ))}
      {isWritingLost && (
        <div class="comments">
          <QuotedLine at={writing} />
          <p class="quiet">The line has moved or changed since you began to write.</p>
          <CommentBox {...{ store, taskId, onClose }} at={writing} />
        </div>
      )}
    </>
  );
}

function QuotedLine({ at: { file, line, quoted } }: { readonly at: Commented }) {
  return (
    <p class="path quiet">
      {visible(file)}, line {line}: {visible(quoted)}
    </p>
  );
}
