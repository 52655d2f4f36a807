import type { ComponentChildren } from 'preact';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
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
