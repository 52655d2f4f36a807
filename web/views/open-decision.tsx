import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { DecisionCard } from './decision.js';
import { Guard } from './guard.js';

interface OpenDecisionProps {
  readonly store: Store;
  readonly decision: DecisionView;
  readonly place: string;
}

/** The card of an open question. */
export function OpenDecision(props: OpenDecisionProps) {
  return (
    <Guard what="This question" hint="Answer it in the terminal of the task, or in the chat.">
      <DecisionCard {...props} />
    </Guard>
  );
}
