import { useState } from 'preact/hooks';
import { linesBetween, splitRows, type DiffLine } from '../../src/board/parse-hunks.js';
import type { ActionError, ReviewComment } from '../../src/board/protocol.js';
import type { DiffFile } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { Comment, CommentBox, commentedLine, isSameLine, type Commented } from './comments.js';
import { ErrorLine, Button } from './parts.js';

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
  const rows = isSplit
    ? splitRows(shown.map(({ line }) => line))
    : shown.map(({ line }) => [line, line] as const);
  const hunks = shown.filter(({ line }) => line.kind === 'hunk').map(({ at }) => at);
  return (
    <>
      <ErrorLine error={error} />
      <table class="lines">
        <colgroup>
          <col class="number" />
          {isSplit && <col />}
          <col class="number" />
          {!isSplit && <col class="sign" />}
          <col />
        </colgroup>
        <tbody>
          {rows.map(([left, right], at) => {
            if (right?.kind !== 'hunk') return <LineRow key={at} {...props} {...{ left, right }} />;
            const hunk = hunks.shift() ?? 0;
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
          <Button act={onUnfold}>
            ⋯ {skipped} unchanged {skipped === 1 ? 'line' : 'lines'}
          </Button>
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

/** In one column `left` and `right` are the same line, and one that was taken away has its number at the left. */
function LineRow({ left, right, ...props }: RowProps) {
  const [was, is] = [left, right].map((line) => line && commentedLine(props.file.path, line));
  const isRemoved = !props.isSplit && right?.kind === 'removed';
  const kind = right?.kind ?? 'same';
  const number = (line: DiffLine | undefined, at: Commented | undefined, other?: number) => (
    <td class={`number ${props.isSplit ? (line?.kind ?? '') : ''}`}>
      {at === undefined ? other : <NumberButton {...props} at={at} />}
    </td>
  );
  const code = (line: DiffLine | undefined) => (
    <td class={`code ${line?.kind ?? ''}`} dir="ltr">
      {line !== undefined && <LineText line={line} />}
    </td>
  );
  const isOld = left !== right || isRemoved;
  return (
    <>
      <tr class={props.isSplit ? undefined : kind}>
        {number(left, isOld ? was : undefined, left?.old)}
        {props.isSplit && code(left)}
        {number(right, isRemoved ? undefined : is)}
        {!props.isSplit && (
          <td class="sign" aria-hidden="true">
            {signs[kind]}
          </td>
        )}
        {code(right)}
      </tr>
      {left !== right && <CommentRow {...props} at={was} />}
      <CommentRow {...props} at={is} />
    </>
  );
}

interface AtProps extends Omit<LinesProps, 'lines'> {
  readonly at: Commented | undefined;
}

/** The number of a line; a press writes a comment on it. */
function NumberButton({ at, file, writing, onWriting }: AtProps & { readonly at: Commented }) {
  const isWriting = writing !== undefined && isSameLine(writing, at);
  return (
    <Button
      aria-label={`Comment on line ${at.line}${at.side === 'old' ? ', removed' : ''} of ${file.path}`}
      act={() => onWriting(isWriting ? undefined : at)}
    >
      {at.line}
    </Button>
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
    <Button look="cut" act={() => setIsWhole(true)}>
      … all {text.length} characters
    </Button>
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
