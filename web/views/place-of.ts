import type { DecisionView } from '../../src/board/state.js';

/** The questions before one of a list. */
export function placeOf(decisions: readonly DecisionView[], at: number): string {
  return decisions
    .slice(0, at)
    .map(({ task_id, decision_id }) => `${task_id}/${decision_id}`)
    .join();
}
