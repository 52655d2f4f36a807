import type { ComponentChildren } from 'preact';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { OpenDecision } from './open-decision.js';
import { placeOf } from './place-of.js';

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
          <OpenDecision {...{ store, decision }} place={placeOf(open, at)} />
        </div>
      ))}
    </>
  );
}

function keyOf({ task_id, decision_id }: DecisionView): string {
  return `${task_id}/${decision_id}`;
}
