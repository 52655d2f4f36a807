import type { ComponentChildren } from 'preact';
import type { DecisionView, TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { clockTime, visible } from '../text/words.js';
import { DecisionCard } from './decision.js';
import { Guard } from './parts.js';

interface OpenDecisionsProps {
  readonly store: Store;
  readonly open: readonly DecisionView[];
  /** What stands above a card. */
  readonly above?: (decision: DecisionView) => ComponentChildren;
}

/** The cards of open questions. */
export function OpenDecisions({ store, open, above }: OpenDecisionsProps) {
  return (
    <>
      {open.map((decision, at) => (
        <div key={keyOf(decision)} class="question">
          {above?.(decision)}
          <Guard what="This question" hint="Answer it in the terminal of the task, or in the chat.">
            <DecisionCard store={store} decision={decision} place={open.slice(0, at).map(keyOf).join()} />
          </Guard>
        </div>
      ))}
    </>
  );
}

/** Of a decision among those of all tasks. */
export function keyOf({ task_id, decision_id }: Pick<DecisionView, 'task_id' | 'decision_id'>): string {
  return `${task_id}/${decision_id}`;
}

/** Those that were answered, folded: by whom, and with what words. */
export function ClosedDecisions({ state }: { readonly state: TaskState }) {
  const closed = Object.values(state.decisions)
    .flatMap((one) => (one.closed === null ? [] : [{ ...one, ...one.closed }]))
    .sort((a, b) => a.at.localeCompare(b.at));
  if (closed.length === 0) return null;
  return (
    <details class="closed-decisions">
      <summary>Answered questions ({closed.length})</summary>
      <ul>
        {closed.map(({ decision_id, verdict, summary, by, at, reason, edits }) => (
          <li key={decision_id} class="closed">
            <span class={`verdict ${verdict}`}>{verdict}</span> <span dir="auto">{visible(summary)}</span>{' '}
            <span class="quiet">
              by {visible(by)} at {clockTime(at)}
              {reason !== null && edits.length === 0 && `: ${visible(reason)}`}
            </span>
            {edits.map(({ field, asked, allowed }) => (
              <dl key={field} class="edits">
                <dt>{visible(field)} as asked</dt>
                <dd dir="auto">{visible(asked)}</dd>
                <dt>{visible(field)} as allowed</dt>
                <dd dir="auto">{visible(allowed)}</dd>
              </dl>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}
