import { lazy, Suspense } from 'preact/compat';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';

/** Loaded with the first question. */
const DecisionCard = lazy(async () => (await import('./decision.js')).DecisionCard);

interface OpenDecisionProps {
  readonly store: Store;
  readonly decision: DecisionView;
  /** The keys y, s and n are for this one. */
  readonly hasKeys: boolean;
}

/** The card of an open question. */
export function OpenDecision(props: OpenDecisionProps) {
  return (
    <Suspense fallback={null}>
      <DecisionCard {...props} />
    </Suspense>
  );
}
