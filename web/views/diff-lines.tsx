import { useState } from 'preact/hooks';
import { linesBetween, splitRows, type DiffLine } from '../../src/board/parse-hunks.js';
import type { ActionError, ReviewComment } from '../../src/board/protocol.js';
import type { DiffFile } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { Comment, CommentBox, commentedLine, isSameLine, type Commented } from './comments.js';
import { ErrorLine } from './parts.js';

/** Of a longer line so much is shown around what has changed. */
const LONG_CHARS = 600;
const AROUND_CHARS = 150;

export interface LinesProps {
  readonly store: Store;
  readonly taskId: string;
  readonly file: DiffFile;
  readonly lines: readonly DiffLine[];
  readonly comments: readonly ReviewComment[];
  readonly writing: Commented | undefined;
  readonly onWriting: (at: Commented | undefined) => void;
  readonly isSplit: boolean;
}

/** The lines of a file, in one column or in two; what is between its hunks unfolds. */
export function Lines(props: LinesProps) {
  const { store, taskId, file, lines, isSplit } = props;
  /** The file as it is now, once what lies between two hunks was asked for. */
  const [now, setNow] = useState<readonly string[]>();
  const [error, setError] = useState<ActionError>();
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const unfold = async (hunk: number): Promise<void> => {
    if (now === undefined) {
      const outcome = await store.act({ type: 'file.read', task_id: taskId, file: file.path, side: 'new' });
      if (!outcome.ok) return setError(outcome.error);
      setNow((outcome.file?.text ?? '').split('\n'));
    }
    setUnfolded(new Set([...unfolded, hunk]));
  };
  const shown = lines.flatMap((line, at) => {
    if (line.kind !== 'hunk' || now === undefined || !unfolded.has(at)) return [{ line, at }];
    return linesBetween(lines, at, now).map((between) => ({ line: between, at }));
  });
  const Row = isSplit ? SplitRow : UnifiedRow;
  const rows = isSplit
    ? splitRows(shown.map(({ line }) => line))
    : shown.map(({ line }) => [line, line] as const);
  let hunks = 0;
  const hunksAt = shown.filter(({ line }) => line.kind === 'hunk').map(({ at }) => at);
  return (
    <>
      <ErrorLine error={error} />
      <table class={isSplit ? 'lines split' : 'lines'}>
        <colgroup>
          <col class="number" />
          {isSplit && <col />}
          <col class="number" />
          {!isSplit && <col class="sign" />}
          <col />
        </colgroup>
        <tbody>
          {rows.map(([left, right], at) => {
            if (right?.kind !== 'hunk') return <Row key={at} {...props} left={left} right={right} />;
            const hunk = hunksAt[hunks++] ?? 0;
            return <HunkRow key={at} line={right} onUnfold={() => void unfold(hunk)} />;
          })}
        </tbody>
      </table>
    </>
  );
}

/** What is not shown between two hunks. */
function HunkRow({ line, onUnfold }: { readonly line: DiffLine; readonly onUnfold: () => void }) {
  const { skipped = 0, text, end } = line;
  if (skipped === 0 && text === '' && end === undefined) return null;
  return (
    <tr class="hunk">
      <td colSpan={4}>
        {skipped > 0 && (
          <button type="button" onClick={onUnfold}>
            ⋯ {skipped} unchanged {skipped === 1 ? 'line' : 'lines'}
          </button>
        )}{' '}
        <LineText line={line} />
      </td>
    </tr>
  );
}

interface RowProps extends LinesProps {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

const signs = { added: '+', removed: '−', same: '', hunk: '' } as const;

function UnifiedRow({ right: line, ...props }: RowProps) {
  if (line === undefined) return null;
  const at = commentedLine(props.file.path, line);
  return (
    <>
      <tr class={line.kind}>
        <td class="number">{line.kind === 'removed' ? <NumberButton {...props} at={at} /> : line.old}</td>
        <td class="number">{line.kind !== 'removed' && <NumberButton {...props} at={at} />}</td>
        <td class="sign" aria-hidden="true">
          {signs[line.kind]}
        </td>
        <td class="code" dir="ltr">
          <LineText line={line} />
        </td>
      </tr>
      <CommentRow {...props} at={at} />
    </>
  );
}

function SplitRow({ left, right, ...props }: RowProps) {
  const [was, is] = [left, right].map((line) => line && commentedLine(props.file.path, line));
  const isSame = left === right;
  return (
    <>
      <tr>
        <td class={`number ${left?.kind ?? ''}`}>
          {isSame ? left?.old : <NumberButton {...props} at={was} />}
        </td>
        <td class={`code ${left?.kind ?? ''}`} dir="ltr">
          {left !== undefined && <LineText line={left} />}
        </td>
        <td class={`number ${right?.kind ?? ''}`}>
          <NumberButton {...props} at={is} />
        </td>
        <td class={`code ${right?.kind ?? ''}`} dir="ltr">
          {right !== undefined && <LineText line={right} />}
        </td>
      </tr>
      {!isSame && <CommentRow {...props} at={was} />}
      <CommentRow {...props} at={is} />
    </>
  );
}

interface AtProps extends Omit<LinesProps, 'lines'> {
  readonly at: Commented | undefined;
}

/** The number of a line; a press writes a comment on it. */
function NumberButton({ at, file, writing, onWriting }: AtProps) {
  if (at === undefined) return null;
  const isWriting = writing !== undefined && isSameLine(writing, at);
  return (
    <button
      type="button"
      aria-label={`Comment on line ${at.line}${at.side === 'old' ? ', removed' : ''} of ${file.path}`}
      onClick={() => onWriting(isWriting ? undefined : at)}
    >
      {at.line}
    </button>
  );
}

function CommentRow({ store, taskId, at, comments, writing, onWriting }: AtProps) {
  if (at === undefined) return null;
  const own = comments.filter((one) => isSameLine(one, at));
  const isWriting = writing !== undefined && isSameLine(writing, at);
  if (own.length === 0 && !isWriting) return null;
  return (
    <tr>
      <td colSpan={4} class="comments">
        {own.map((comment) => (
          <Comment key={comment.comment_id} {...{ store, taskId, comment }} />
        ))}
        {isWriting && <CommentBox {...{ store, taskId, at }} onClose={() => onWriting(undefined)} />}
      </td>
    </tr>
  );
}

/** A line with what differs from its counterpart marked, and what is to be said of its end; a huge one is cut around that. */
function LineText({ line: { text, changed, end } }: { readonly line: DiffLine }) {
  const [isWhole, setIsWhole] = useState(false);
  const [from, until] = changed ?? [0, 0];
  const isCut = !isWhole && text.length > LONG_CHARS;
  const first = isCut ? Math.max(0, from - AROUND_CHARS) : 0;
  const last = isCut ? Math.min(text.length, first + LONG_CHARS) : text.length;
  const to = Math.min(until, last);
  const more = (
    <button type="button" class="cut" onClick={() => setIsWhole(true)}>
      … all {text.length} characters
    </button>
  );
  return (
    <>
      {first > 0 && more}
      {visible(text.slice(first, from))}
      {to > from && <mark>{visible(text.slice(from, to))}</mark>}
      {visible(text.slice(to, last))}
      {last < text.length && more}
      {end !== undefined && <span class="quiet"> {end}</span>}
    </>
  );
}
