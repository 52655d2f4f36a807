// Pure.
import { openOf, type BoardState, type DecisionView } from '../../../../src/board/state.js';

/** Finds out which decisions a window has not seen yet. Those that were asked for before it was opened are only counted. */
export class NewDecisions {
  readonly #sinceMs: number;
  #known: ReadonlySet<string> = new Set();

  /** `sinceMs`: when the window was opened, in milliseconds since the epoch. */
  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  in({ decisions }: BoardState): readonly DecisionView[] {
    const open = openOf(decisions);
    const fresh = open.filter(
      (one) => !this.#known.has(keyOf(one)) && Date.parse(one.asked_at) >= this.#sinceMs,
    );
    this.#known = new Set(open.map(keyOf));
    return fresh;
  }
}

function keyOf({ task_id, decision_id }: DecisionView): string {
  return `${task_id}/${decision_id}`;
}
