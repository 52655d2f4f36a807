import { visible } from '../text/visible.js';
import type { DiffLine } from '../../src/board/parse-hunks.js';

/** A line of a diff, with what differs from its counterpart marked, and what is to be said of its end. */
export function LineText({ line }: { readonly line: DiffLine }) {
  const { text, changed, end } = line;
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
