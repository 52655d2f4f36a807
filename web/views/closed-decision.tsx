import type { DecisionView } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { clockTime } from '../text/words.js';

/** One that was answered: by whom, and with what words. */
export function ClosedDecision({ decision }: { readonly decision: DecisionView }) {
  const { closed } = decision;
  if (closed === null) return null;
  return (
    <li class="closed">
      <span class={`verdict ${closed.verdict}`}>{closed.verdict}</span>{' '}
      <span dir="auto">{visible(decision.summary)}</span>{' '}
      <span class="quiet">
        by {visible(closed.by)} at {clockTime(closed.at)}
        {closed.reason !== null && closed.edits.length === 0 && `: ${visible(closed.reason)}`}
      </span>
      {closed.edits.map(({ field, asked, allowed }) => (
        <dl key={field} class="edits">
          <dt>{visible(field)} as asked</dt>
          <dd dir="auto">{visible(asked)}</dd>
          <dt>{visible(field)} as allowed</dt>
          <dd dir="auto">{visible(allowed)}</dd>
        </dl>
      ))}
    </li>
  );
}
