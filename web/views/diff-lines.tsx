import { useState } from 'preact/hooks';
import { linesBetween, splitRows, type DiffLine } from '../../src/board/parse-hunks.js';
import type { ActionError } from '../../src/board/protocol.js';
import type { DiffFile } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { commentedLine, CommentsAt, lineKey, type Commented, type Review } from './comments.js';
import { ErrorLine, Button } from './parts.js';

/** Of a longer line so much is shown around what has changed. */
const LONG_CHARS = 600;
const AROUND_CHARS = 150;

export interface LinesProps extends Review {
  readonly file: DiffFile;
  readonly lines: readonly DiffLine[];
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
function LineRow({ left, right, file, isSplit, ...review }: RowProps) {
  const { comments, writing, onWriting } = review;
  const [was, is] = [left, right].map((line) => line && commentedLine(file.path, line));
  const isRemoved = !isSplit && right?.kind === 'removed';
  const kind = right?.kind ?? 'same';
  // A press writes a comment on the line.
  const number = (line: DiffLine | undefined, at: Commented | undefined, other?: number) => (
    <td class={`number ${isSplit ? (line?.kind ?? '') : ''}`}>
      {at === undefined ? (
        other
      ) : (
        <Button
          aria-label={`Comment on line ${at.line}${at.side === 'old' ? ', removed' : ''} of ${file.path}`}
          act={() => onWriting(lineKey(writing) === lineKey(at) ? undefined : at)}
        >
          {at.line}
        </Button>
      )}
    </td>
  );
  const code = (line: DiffLine | undefined) => (
    <td class={`code ${line?.kind ?? ''}`} dir="ltr">
      {line !== undefined && <LineText line={line} />}
    </td>
  );
  const commented = [left !== right ? was : undefined, is].filter(
    (at) => at !== undefined && [...comments, writing].some((one) => lineKey(one) === lineKey(at)),
  );
  return (
    <>
      <tr class={isSplit ? undefined : kind}>
        {number(left, left !== right || isRemoved ? was : undefined, left?.old)}
        {isSplit && code(left)}
        {number(right, isRemoved ? undefined : is)}
        {!isSplit && (
          <td class="sign" aria-hidden="true">
            {signs[kind]}
          </td>
        )}
        {code(right)}
      </tr>
      {commented.map((at) => (
        <tr key={lineKey(at)}>
          <td colSpan={4} class="comments">
            {at !== undefined && <CommentsAt {...review} at={at} />}
          </td>
        </tr>
      ))}
    </>
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
