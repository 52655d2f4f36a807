import { useEffect, useMemo, useState } from 'preact/hooks';
import { fileFacts, parseHunks, type DiffLine } from '../../src/board/parse-hunks.js';
import type { DiffFile, DiffState, ReviewComment } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import {
  Comment,
  CommentBox,
  isOnLine,
  isSame,
  LostComments,
  type Writing,
  type WritingProps,
} from './comments.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, useAction } from './parts.js';
import { useSurface } from './surface.js';

/** Files with more lines are folded at first. */
const FOLDED_LINES = 400;

/** What a task changed since it began, with comments on its lines. */
export function DiffView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  useEffect(() => store.openDiff(taskId), [store, taskId]);
  const diff = store.diff.value;
  if (diff === undefined) return <p class="empty">Asking git…</p>;
  const added = sum(diff.files.map(({ insertions }) => insertions));
  const removed = sum(diff.files.map(({ deletions }) => deletions));
  return (
    <div class="diff-view">
      <Review store={store} taskId={taskId} diff={diff} />
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
      {diff.files.map((file) => (
        <FileDiff
          key={`${file.change} ${file.path}`}
          {...{ store, taskId, file }}
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

/** The comments that are not sent yet, how to send them, and those whose file is no longer changed. */
function Review({ store, taskId, diff: { comments, files } }: ReviewProps) {
  const { send, error } = useAction(store);
  const hasEnded = store.task.value?.task?.is_final === true;
  const lost = comments.filter(({ file }) => !files.some(({ path }) => path === file));
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
      {lost.map((comment) => (
        <Comment key={comment.comment_id} {...{ store, taskId, comment }} />
      ))}
    </div>
  );
}

interface FileProps {
  readonly store: Store;
  readonly taskId: string;
  readonly file: DiffFile;
  readonly comments: readonly ReviewComment[];
}

function FileDiff({ store, taskId, file, comments }: FileProps) {
  const lines = useMemo(() => parseHunks(file.hunks), [file.hunks]);
  const [writing, onWriting] = useState<readonly Writing[]>([]);
  const { editor } = useSurface();
  const ofFile = { store, taskId, path: file.path, comments, writing, onWriting };
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
            <LineRow key={at} {...ofFile} line={line} />
          ))}
        </tbody>
      </table>
      {file.is_cut && <p class="quiet">The rest is not shown: the file has too many changed lines.</p>}
      <LostComments {...ofFile} lines={lines} />
    </details>
  );
}

interface LineProps extends WritingProps {
  readonly line: DiffLine;
}

function LineRow({ store, taskId, path, line, comments, writing, onWriting }: LineProps) {
  if (line.kind === 'hunk') {
    return (
      <tr class="hunk">
        <td colSpan={3}>
          <LineText line={line} />
        </td>
      </tr>
    );
  }
  const side = line.kind === 'removed' ? 'old' : 'new';
  const number = (side === 'old' ? line.old : line.now) ?? 0;
  const own = comments.filter((one) => isOnLine(one, side, number, line));
  const mine = writing.find((one) => isOnLine(one, side, number, line));
  const toggle = (): void =>
    onWriting((before) =>
      mine === undefined
        ? [...before, { side, line: number, quoted: line.text, text: '' }]
        : before.filter((one) => !isSame(one, mine)),
    );
  return (
    <>
      <tr class={line.kind}>
        <td class="number">{line.old}</td>
        <td class="number">
          <button
            type="button"
            aria-label={`Comment on line ${number}${side === 'old' ? ', removed' : ''} of ${path}`}
            onClick={toggle}
          >
            {line.now ?? '−'}
          </button>
        </td>
        <td class="code" dir="ltr">
          <LineText line={line} />
        </td>
      </tr>
      {(own.length > 0 || mine !== undefined) && (
        <tr>
          <td colSpan={3} class="comments">
            {own.map((comment) => (
              <Comment key={comment.comment_id} {...{ store, taskId, comment }} />
            ))}
            {mine !== undefined && <CommentBox {...{ store, taskId, path, onWriting }} mine={mine} />}
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
