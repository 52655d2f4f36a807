import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
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

/** The cards of open questions. The keys are for the one that has the focus, or had it last, and else for the first. */
export function OpenDecisions({ store, open, above }: OpenDecisionsProps) {
  const [chosen, setChosen] = useState('');
  const keyed = open.find((one) => keyOf(one) === chosen) ?? open[0];
  return (
    <>
      {open.map((decision, at) => (
        <div key={keyOf(decision)} class="question" onFocusCapture={() => setChosen(keyOf(decision))}>
          {above?.(decision)}
          <OpenDecision {...{ store, decision }} hasKeys={decision === keyed} place={placeOf(open, at)} />
        </div>
      ))}
    </>
  );
}

function keyOf({ task_id, decision_id }: DecisionView): string {
  return `${task_id}/${decision_id}`;
}
