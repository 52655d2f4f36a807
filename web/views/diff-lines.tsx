import { useMemo, useState } from 'preact/hooks';
import { linesBetween, splitRows, type DiffLine } from '../../src/board/parse-hunks.js';
import type { ActionError } from '../../src/board/protocol.js';
import type { DiffFile } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { commentedLine, CommentsAt, lineKey, type Commented, type Review } from './comments.js';
import { ErrorLine, Button } from './parts.js';
import type { Piece, piecesOf } from './syntax.js';

/** Of a longer line so much is shown around what has changed. */
const LONG_CHARS = 600;
const AROUND_CHARS = 150;

export interface LinesProps extends Review {
  readonly file: DiffFile;
  readonly lines: readonly DiffLine[];
  readonly isSplit: boolean;
  /** Undefined until the grammars are loaded: text is plain until then. */
  readonly piecesOf: typeof piecesOf | undefined;
}

/** The lines of a file, in one column or in two; what is between its hunks unfolds. */
export function Lines(props: LinesProps) {
  const { store, taskId, file, lines, isSplit, piecesOf } = props;
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
  const [shown, pieces] = useMemo(() => {
    const all = lines.flatMap((line, at) => {
      if (line.kind !== 'hunk' || now === undefined || !unfolded.has(at)) return [{ line, at }];
      return linesBetween(lines, at, now).map((between) => ({ line: between, at }));
    });
    const plain = all.map(({ line }) => line);
    return [all, piecesOf?.(file.path, plain)];
  }, [file.path, lines, now, unfolded, piecesOf]);
  const rows = isSplit
    ? splitRows(shown.map(({ line }) => line))
    : shown.map(({ line }) => [line, line] as const);
  const hunks = shown.filter(({ line }) => line.kind === 'hunk').map(({ at }) => at);
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
            if (right?.kind !== 'hunk') return <LineRow key={at} {...props} {...{ left, right, pieces }} />;
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
  readonly pieces: ReadonlyMap<DiffLine, readonly Piece[]> | undefined;
}

const signs = { added: '+', removed: '−', same: '', hunk: '' } as const;

/** In one column `left` and `right` are the same line. A line that was taken away has its number at the left, any other at the right. */
function LineRow({ left, right, pieces, file, isSplit, ...review }: RowProps) {
  const { comments, writing, onWriting } = review;
  const kind = right?.kind ?? 'same';
  const was = left?.kind === 'removed' ? commentedLine(file.path, left) : undefined;
  const is = right && kind !== 'removed' ? commentedLine(file.path, right) : undefined;
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
      {line !== undefined && <LineText line={line} pieces={pieces?.get(line)} />}
    </td>
  );
  const commented = [was, is].filter((at) =>
    [...comments, writing].some((one) => at !== undefined && lineKey(one) === lineKey(at)),
  );
  return (
    <>
      <tr class={isSplit ? undefined : kind}>
        {number(left, was, left?.old)}
        {isSplit && code(left)}
        {number(right, is)}
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

interface TextProps {
  readonly line: DiffLine;
  readonly pieces?: readonly Piece[] | undefined;
}

/** A line in the colors of its language, with what differs from its counterpart marked, and what is to be said of its end; a huge one is plain, and cut around what differs. */
function LineText({ line: { text, changed, end }, pieces }: TextProps) {
  const [isWhole, setIsWhole] = useState(false);
  const [from, until] = changed ?? [0, 0];
  const isCut = !isWhole && text.length > LONG_CHARS;
  const first = isCut ? Math.max(0, from - AROUND_CHARS) : 0;
  const last = isCut ? Math.min(text.length, first + LONG_CHARS) : text.length;
  const to = Math.min(until, last);
  const part = (start: number, stop: number) => partOf(pieces ?? [{ text, scope: '' }], start, stop);
  const more = (
    <Button look="cut" act={() => setIsWhole(true)}>
      … all {text.length} characters
    </Button>
  );
  return (
    <>
      {first > 0 && more}
      {part(first, from)}
      {to > from && <mark>{part(from, to)}</mark>}
      {part(to, last)}
      {last < text.length && more}
      {end !== undefined && <span class="quiet"> {end}</span>}
    </>
  );
}

/** What lies between two characters of a line. */
function partOf(pieces: readonly Piece[], start: number, stop: number) {
  let at = 0;
  return pieces.map(({ text, scope }, number) => {
    const shown = visible(text.slice(Math.max(0, start - at), Math.max(0, stop - at)));
    at += text.length;
    if (shown === '' || scope === '') return shown;
    return (
      <span key={number} class={`in-${scope}`}>
        {shown}
      </span>
    );
  });
}
