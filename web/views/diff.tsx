import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ActionError } from '../../src/board/protocol.js';
import type { DiffFile, DiffState, ReviewComment } from '../../src/board/state.js';
import {
  Comment,
  CommentBox,
  isOnLine,
  isSame,
  LostComments,
  type Writing,
  type WritingProps,
} from '../diff/comments.js';
import { FileHead } from '../diff/file-head.js';
import { LineText } from '../diff/line-text.js';
import { parseHunks, type DiffLine } from '../../src/board/parse-hunks.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { openTaskPage } from './navigate.js';
import { ImagesView } from './images.js';
import { useSurface } from './surface.js';

/** Files with more lines are folded at first. */
const FOLDED_LINES = 400;
/** Of more images each is loaded when it is opened. */
const OPEN_IMAGES = 6;
const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i;

/** What a task changed since it began, with comments on its lines. */
export function DiffView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  useEffect(() => store.openDiff(taskId), [store, taskId]);
  const diff = store.diff.value;
  if (diff === undefined) return <p class="empty">Asking git…</p>;
  const opensImages = diff.files.filter(isImage).length <= OPEN_IMAGES;
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
          comments={diff.comments}
          opensImage={opensImages}
        />
      ))}
    </div>
  );
}

/** The comments that are not sent yet, and how to send them. */
function Review({
  store,
  taskId,
  diff,
}: {
  readonly store: Store;
  readonly taskId: string;
  readonly diff: DiffState;
}) {
  const [error, setError] = useState<ActionError>();
  const drafts = diff.comments.filter(({ state }) => state === 'draft');
  const hasEnded = store.task.value?.task?.is_final === true;
  if (diff.comments.length === 0) {
    return diff.files.length === 0 ? null : <p class="quiet">Press the number of a line to comment on it.</p>;
  }
  const send = (): void =>
    void store.act({ type: 'review.submit', task_id: taskId }).then((outcome) => {
      setError(outcome.ok ? undefined : outcome.error);
      if (outcome.ok && outcome.task_id !== undefined) openTaskPage(outcome.task_id);
    });
  return (
    <div class="review">
      <span>
        {drafts.length} to send, {diff.comments.length - drafts.length} sent
      </span>
      <button type="button" class="primary" disabled={drafts.length === 0} onClick={send}>
        {hasEnded ? 'Start a task that goes on with them' : 'Send them as one message'}
      </button>
      {error !== undefined && (
        <p class="error" role="alert">
          {visible(error.message)} {visible(error.hint)}
        </p>
      )}
    </div>
  );
}

interface FileProps {
  readonly store: Store;
  readonly taskId: string;
  readonly file: DiffFile;
  readonly comments: readonly ReviewComment[];
  readonly opensImage: boolean;
}

function isImage({ is_binary, path }: DiffFile): boolean {
  return is_binary && IMAGE.test(path);
}

function FileDiff({ store, taskId, file, comments, opensImage }: FileProps) {
  const lines = useMemo(() => parseHunks(file.hunks), [file.hunks]);
  const [writing, setWriting] = useState<readonly Writing[]>([]);
  const own = comments.filter((one) => one.file === file.path);
  const [isImageOpen, setIsImageOpen] = useState(opensImage);
  const { FileActions } = useSurface();
  if (isImage(file)) {
    return (
      <details class="file" open={isImageOpen} onToggle={(event) => setIsImageOpen(event.currentTarget.open)}>
        <FileHead file={file}>
          <FileActions taskId={taskId} file={file} />
        </FileHead>
        {isImageOpen && <ImagesView store={store} taskId={taskId} file={file} />}
      </details>
    );
  }
  return (
    <details class="file" open={lines.length <= FOLDED_LINES || own.length > 0}>
      <FileHead file={file}>
        <FileActions taskId={taskId} file={file} />
      </FileHead>
      <table class="lines">
        <tbody>
          {lines.map((line, at) => (
            <LineRow
              key={at}
              {...{ store, taskId, line, writing }}
              path={file.path}
              comments={own}
              onWriting={setWriting}
            />
          ))}
        </tbody>
      </table>
      {file.is_cut && <p class="quiet">The rest is not shown: the file has too many changed lines.</p>}
      <LostComments
        {...{ store, taskId, lines, writing }}
        path={file.path}
        comments={own}
        onWriting={setWriting}
      />
    </details>
  );
}

interface LineProps extends WritingProps {
  readonly line: DiffLine;
  readonly comments: readonly ReviewComment[];
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
              <Comment key={comment.comment_id} store={store} taskId={taskId} comment={comment} />
            ))}
            {mine !== undefined && (
              <CommentBox {...{ store, taskId, path, writing, onWriting }} mine={mine} />
            )}
          </td>
        </tr>
      )}
    </>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
