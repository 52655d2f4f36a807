import { useEffect, useMemo, useState } from 'preact/hooks';
import { fileFacts, parseHunks, type DiffLine } from '../../src/board/parse-hunks.js';
import type { ReviewComment } from '../../src/board/protocol.js';
import type { DiffFile, DiffState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { Comment, CommentBox, commentedLine, isSameLine, LostComments, type Commented } from './comments.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, useAction } from './parts.js';
import { useSurface } from './surface.js';

/** Files with more lines are folded at first. */
const FOLDED_LINES = 400;

/** What a task changed since it began, with comments on its lines. */
export function DiffView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  useEffect(() => store.openDiff(taskId), [store, taskId]);
  const [writing, onWriting] = useState<Commented>();
  const diff = store.diff.value;
  const files = useMemo(
    () => (diff?.files ?? []).map((file) => ({ file, lines: parseHunks(file.hunks) })),
    [diff?.files],
  );
  if (diff === undefined) return <p class="empty">Asking git…</p>;
  const added = sum(diff.files.map(({ insertions }) => insertions));
  const removed = sum(diff.files.map(({ deletions }) => deletions));
  const isThere = (one: Commented): boolean =>
    files.some(
      ({ file, lines }) =>
        file.path === one.file &&
        lines.some((line) => {
          const at = commentedLine(file.path, line);
          return at !== undefined && isSameLine(at, one);
        }),
    );
  const onClose = (): void => onWriting(undefined);
  return (
    <div class="diff-view">
      <Review store={store} taskId={taskId} diff={diff} />
      <LostComments {...{ store, taskId, writing, isThere, onClose }} comments={diff.comments} />
      {diff.why !== null && <p class="empty">{visible(diff.why)}</p>}
      {diff.files.length > 0 && (
        <p class="quiet">
          {diff.files.length} {diff.files.length === 1 ? 'file' : 'files'}, +{added} −{removed}
        </p>
      )}
      {diff.notes.map((note) => (
        <p key={note} class="quiet">
          {visible(note)}
        </p>
      ))}
      {files.map(({ file, lines }) => (
        <FileDiff
          key={`${file.change} ${file.path}`}
          {...{ store, taskId, file, lines, writing, onWriting }}
          comments={diff.comments.filter((one) => one.file === file.path)}
        />
      ))}
    </div>
  );
}

interface ReviewProps {
  readonly store: Store;
  readonly taskId: string;
  readonly diff: DiffState;
}

/** The comments that are not sent yet, and how to send them. */
function Review({ store, taskId, diff: { comments, files } }: ReviewProps) {
  const { send, error } = useAction(store);
  const hasEnded = store.task.value?.task?.is_final === true;
  if (comments.length === 0)
    return files.length === 0 ? null : <p class="quiet">Press the number of a line to comment on it.</p>;
  return (
    <div class="review">
      <span>{comments.length} to send</span>
      <button
        type="button"
        class="primary"
        onClick={() =>
          send({ type: 'review.submit', task_id: taskId }, ({ task_id: started }) => {
            if (started !== undefined) openTaskPage(started);
          })
        }
      >
        {hasEnded ? 'Start a task that goes on with them' : 'Send them as one message'}
      </button>
      <ErrorLine error={error} />
    </div>
  );
}

interface FileProps {
  readonly store: Store;
  readonly taskId: string;
  readonly file: DiffFile;
  readonly lines: readonly DiffLine[];
  readonly comments: readonly ReviewComment[];
  readonly writing: Commented | undefined;
  readonly onWriting: (at: Commented | undefined) => void;
}

function FileDiff(props: FileProps) {
  const { taskId, file, lines, comments } = props;
  const { editor } = useSurface();
  return (
    <details class="file" open={lines.length <= FOLDED_LINES || comments.length > 0}>
      <summary>
        <span class="path">{visible(file.path)}</span> <span class="quiet">{visible(fileFacts(file))}</span>{' '}
        {editor !== undefined && (
          <button
            type="button"
            onClick={(event) => {
              // A click on the head of a file folds it.
              event.preventDefault();
              editor.ask({ type: 'open-change', task_id: taskId, file: file.path });
            }}
          >
            Open in the diff editor
          </button>
        )}
      </summary>
      <table class="lines">
        <tbody>
          {lines.map((line, at) => (
            <LineRow key={at} {...props} line={line} />
          ))}
        </tbody>
      </table>
      {file.is_cut && <p class="quiet">The rest is not shown: the file has too many changed lines.</p>}
    </details>
  );
}

interface LineProps extends FileProps {
  readonly line: DiffLine;
}

function LineRow({ store, taskId, file, line, comments, writing, onWriting }: LineProps) {
  const at = commentedLine(file.path, line);
  if (at === undefined) {
    return (
      <tr class="hunk">
        <td colSpan={3}>
          <LineText line={line} />
        </td>
      </tr>
    );
  }
  const own = comments.filter((one) => isSameLine(one, at));
  const isWriting = writing !== undefined && isSameLine(writing, at);
  return (
    <>
      <tr class={line.kind}>
        <td class="number">{line.old}</td>
        <td class="number">
          <button
            type="button"
            aria-label={`Comment on line ${at.line}${at.side === 'old' ? ', removed' : ''} of ${file.path}`}
            onClick={() => onWriting(isWriting ? undefined : at)}
          >
            {line.now ?? '−'}
          </button>
        </td>
        <td class="code" dir="ltr">
          <LineText line={line} />
        </td>
      </tr>
      {(own.length > 0 || isWriting) && (
        <tr>
          <td colSpan={3} class="comments">
            {own.map((comment) => (
              <Comment key={comment.comment_id} {...{ store, taskId, comment }} />
            ))}
            {isWriting && <CommentBox {...{ store, taskId, at }} onClose={() => onWriting(undefined)} />}
          </td>
        </tr>
      )}
    </>
  );
}

/** A line with what differs from its counterpart marked, and what is to be said of its end. */
function LineText({ line: { text, changed, end } }: { readonly line: DiffLine }) {
  const [from, to] = changed ?? [text.length, text.length];
  return (
    <>
      {visible(text.slice(0, from))}
      {to > from && <mark>{visible(text.slice(from, to))}</mark>}
      {visible(text.slice(to))}
      {end !== undefined && <span class="quiet"> {end}</span>}
    </>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
