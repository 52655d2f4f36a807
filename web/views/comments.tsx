import type { DiffLine } from '../../src/board/parse-hunks.js';
import type { ReviewComment } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { ErrorLine, useAction, useFocus } from './parts.js';

/** A comment that is being written. It stays with the line that it is about, wherever that is when the changes change. */
export interface Writing {
  readonly side: 'old' | 'new';
  readonly line: number;
  readonly quoted: string;
  readonly text: string;
}

export interface WritingProps {
  readonly store: Store;
  readonly taskId: string;
  readonly path: string;
  /** Of this file, not sent yet. */
  readonly comments: readonly ReviewComment[];
  readonly writing: readonly Writing[];
  readonly onWriting: (change: (before: readonly Writing[]) => readonly Writing[]) => void;
}

interface CommentProps {
  readonly store: Store;
  readonly taskId: string;
  readonly comment: ReviewComment;
}

/** A comment that was not sent yet. */
export function Comment({ store, taskId, comment: { text, comment_id } }: CommentProps) {
  return (
    <div class="comment draft">
      <p dir="auto">{visible(text)}</p>
      <p class="quiet">
        Not sent yet.{' '}
        <button
          type="button"
          onClick={() => void store.act({ type: 'review.remove', task_id: taskId, comment_id })}
        >
          Remove
        </button>
      </p>
    </div>
  );
}

interface LostProps extends WritingProps {
  readonly lines: readonly DiffLine[];
}

/** Comments on lines that are no longer there, also those that are being written. */
export function LostComments(props: LostProps) {
  const { store, taskId, comments, lines, writing } = props;
  const isLost = (one: Writing | ReviewComment): boolean =>
    !lines.some((line) => isOnLine(one, one.side, (one.side === 'old' ? line.old : line.now) ?? 0, line));
  const lost = comments.filter(isLost);
  const mine = writing.filter(isLost);
  if (lost.length + mine.length === 0) return null;
  return (
    <div class="comments">
      {lost.map((comment) => (
        <div key={comment.comment_id}>
          <QuotedLine {...comment} />
          <Comment store={store} taskId={taskId} comment={comment} />
        </div>
      ))}
      {mine.map((one) => (
        <div key={`${one.side} ${one.line} ${one.quoted}`}>
          <QuotedLine {...one} />
          <p class="quiet">The line has moved or changed since you began to write.</p>
          <CommentBox {...props} mine={one} />
        </div>
      ))}
    </div>
  );
}

function QuotedLine({ line, quoted }: Pick<Writing, 'line' | 'quoted'>) {
  return (
    <p class="path quiet">
      line {line}: {visible(quoted)}
    </p>
  );
}

export function isOnLine(
  one: Pick<Writing, 'side' | 'line' | 'quoted'>,
  side: 'old' | 'new',
  number: number,
  line: DiffLine,
): boolean {
  return one.side === side && one.line === number && one.quoted === line.text;
}

export function isSame(one: Writing, other: Writing): boolean {
  return one.side === other.side && one.line === other.line && one.quoted === other.quoted;
}

interface BoxProps extends Omit<WritingProps, 'comments' | 'writing'> {
  readonly mine: Writing;
}

export function CommentBox({ store, taskId, path, mine, onWriting }: BoxProps) {
  const { send, error, isBusy } = useAction(store);
  const close = (): void => onWriting((before) => before.filter((one) => !isSame(one, mine)));
  const add = (): void => {
    if (mine.text.trim() === '' || isBusy) return;
    send({ type: 'review.add', task_id: taskId, file: path, ...mine }, close);
  };
  const field = useFocus<HTMLTextAreaElement>();
  const write = (text: string): void =>
    onWriting((before) => before.map((one) => (isSame(one, mine) ? { ...one, text } : one)));
  return (
    <form
      class="message"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <textarea
        dir="auto"
        rows={2}
        ref={field}
        aria-label="Comment"
        disabled={isBusy}
        value={mine.text}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) add();
          if (event.key === 'Escape' && mine.text === '') close();
        }}
      />
      <button type="submit" disabled={isBusy}>
        Add comment
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
      <ErrorLine error={error} />
    </form>
  );
}
