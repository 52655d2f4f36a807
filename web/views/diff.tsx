import { useEffect, useMemo, useState } from 'preact/hooks';
import { fileFacts, parseHunks } from '../../src/board/parse-hunks.js';
import type { DiffFile } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { machineOf } from '../text/machines.js';
import { visible } from '../text/words.js';
import { commentedLine, lineKey, LostComments, type Commented, type Review } from './comments.js';
import { Lines, type LinesProps } from './diff-lines.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, Numbers, useAction, Button } from './parts.js';
import { useSurface } from './surface.js';

/** Files with more lines are folded at first. */
const FOLDED_LINES = 400;

/** What a task changed since it began, with comments on its lines. */
export function DiffView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  useEffect(() => store.openDiff(taskId), [store, taskId]);
  const [writing, onWriting] = useState<Commented>();
  const [isSplit, setIsSplit] = useState(false);
  const [syntax, setSyntax] = useState<Pick<LinesProps, 'piecesOf'>>();
  // Without it the changes are plain.
  useEffect(() => void import('./syntax.js').then(setSyntax, () => undefined), []);
  const diff = store.diff.value;
  const files = useMemo(
    () => (diff?.files ?? []).map((file) => ({ file, lines: parseHunks(file.hunks) })),
    [diff?.files],
  );
  if (diff === undefined) return <p class="empty loading">Asking git…</p>;
  const keys = files.flatMap(({ file, lines }) =>
    lines.map((line) => lineKey(commentedLine(file.path, line))),
  );
  const review = { store, taskId, writing, onWriting, comments: diff.comments };
  return (
    <div class="diff-view">
      {diff.comments.length > 0 && <ReviewBar {...review} />}
      <LostComments {...review} there={new Set(keys)} />
      {diff.why !== null && <p class="empty">{visible(diff.why)}</p>}
      {diff.files.length > 0 && <DiffBar files={diff.files} isSplit={isSplit} onSplit={setIsSplit} />}
      {diff.notes.map((note) => (
        <p key={note} class="quiet">
          {visible(note)}
        </p>
      ))}
      {diff.files.length > 1 && <FileList files={diff.files} />}
      {files.map(({ file, lines }, at) => (
        <FileDiff
          key={`${file.change} ${file.path}`}
          id={`file-${at}`}
          {...{ ...review, file, lines, isSplit }}
          piecesOf={syntax?.piecesOf}
          comments={diff.comments.filter((one) => one.file === file.path)}
        />
      ))}
    </div>
  );
}

interface DiffBarProps extends Pick<LinesProps, 'isSplit'> {
  readonly files: readonly DiffFile[];
  readonly onSplit: (isSplit: boolean) => void;
}

function DiffBar({ files, isSplit, onSplit }: DiffBarProps) {
  const sum = (of: 'insertions' | 'deletions') => files.reduce((all, file) => all + file[of], 0);
  return (
    <div class="diff-bar">
      <span>
        {files.length} {files.length === 1 ? 'file' : 'files'}
      </span>
      <Numbers added={sum('insertions')} removed={sum('deletions')} />
      <span class="quiet grow">Press the number of a line to comment on it.</span>
      <span class="switch" role="group" aria-label="Form of the changes">
        <Button aria-pressed={!isSplit} act={() => onSplit(false)}>
          Unified
        </Button>
        <Button aria-pressed={isSplit} act={() => onSplit(true)}>
          Split
        </Button>
      </span>
    </div>
  );
}

/** The changed files; a press shows one. */
function FileList({ files }: { readonly files: readonly DiffFile[] }) {
  return (
    <nav class="files" aria-label="Changed files">
      {files.map(({ path, insertions, deletions }, at) => (
        <Button
          key={path}
          act={() => {
            const shown = document.getElementById(`file-${at}`);
            shown?.querySelector<HTMLElement>('[aria-expanded=false]')?.click();
            shown?.scrollIntoView();
          }}
        >
          <span class="path">{visible(path)}</span>
          <Numbers added={insertions} removed={deletions} />
        </Button>
      ))}
    </nav>
  );
}

/** How the comments are sent. */
function ReviewBar({ store, taskId, comments }: Pick<Review, 'store' | 'taskId' | 'comments'>) {
  const { send, error } = useAction(store);
  const hasEnded = store.task.value?.task?.is_final === true;
  return (
    <div class="review">
      <span>{comments.length} to send</span>
      <Button
        look="primary"
        act={() =>
          send({ type: 'review.submit', task_id: taskId }, ({ task_id: started }) => {
            if (started !== undefined) openTaskPage(started);
          })
        }
      >
        {hasEnded ? 'Start a task that continues with them' : 'Send them as one message'}
      </Button>
      <ErrorLine error={error} />
    </div>
  );
}

function FileDiff({ id, ...props }: LinesProps & { readonly id: string }) {
  const { taskId, file, lines, comments } = props;
  const { editor } = useSurface();
  const [isOpen, setIsOpen] = useState(lines.length <= FOLDED_LINES || comments.length > 0);
  const toggle = (): void => setIsOpen(!isOpen);
  return (
    <section class="file" id={id} aria-label={visible(file.path)}>
      <header class="file-head">
        <Button look="fold" aria-expanded={isOpen} act={toggle}>
          <span class="path">{visible(file.path)}</span>
          <span class="quiet">{visible(fileFacts(file))}</span>
        </Button>
        <Numbers added={file.insertions} removed={file.deletions} />
        {editor !== undefined && machineOf({ task_id: taskId }) === undefined && (
          <Button
            look="small"
            act={() => editor.ask({ type: 'open-change', task_id: taskId, file: file.path })}
          >
            Open in the diff editor
          </Button>
        )}
        {isOpen && (
          <Button look="small" act={toggle}>
            Viewed
          </Button>
        )}
      </header>
      {isOpen && <Lines {...props} />}
      {file.is_cut && <p class="quiet">The rest is not shown: the file has too many changed lines.</p>}
    </section>
  );
}
