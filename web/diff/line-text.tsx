import { visible } from '../text/visible.js';
import type { DiffLine } from '../../src/board/parse-hunks.js';

/** A line of a diff, with what differs from its counterpart marked. */
export function LineText({ line }: { readonly line: DiffLine }) {
  const { text, changed } = line;
  if (changed === undefined) return <>{visible(text)}</>;
  const [from, to] = changed;
  return (
    <>
      {visible(text.slice(0, from))}
      <mark>{visible(text.slice(from, to))}</mark>
      {visible(text.slice(to))}
    </>
  );
}
