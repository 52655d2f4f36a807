import type { ClientAction } from '../../src/board/protocol.js';
import type { DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import type { Host } from './host.js';
import { Told } from './told.js';

/** Tells the model of the chat what a person did, once it was done. */
export function tellingModel(
  host: Host,
  find: (action: ClientAction) => DecisionView | undefined,
): (action: ClientAction) => () => void {
  const told = new Told();
  return (action) => {
    // Found now: when it is answered it is gone from the overview.
    const decision = find(action);
    return () => {
      const text = told.textAfter(action, decision);
      if (text !== undefined) host.tellModel(text);
    };
  };
}

/** The decision that an action answers, as the page has it. */
export function decisionOf(store: Store, action: ClientAction): DecisionView | undefined {
  if (action.type !== 'decision.answer') return undefined;
  const { task_id, decision_id } = action;
  return store.board.value?.decisions[`${task_id}/${decision_id}`];
}
