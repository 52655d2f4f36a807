import type { Decision, TaskRecord } from '../tasks/task.js';
import type { DecisionView, TaskCard, TaskAction } from './state.js';
import { cardOf, decisionViewOf, endOf } from './task-views.js';

/** What both the overview and the page of a task get of it. */
export type TrackedAction = Extract<
  TaskAction,
  { readonly type: 'task.upserted' | 'decision.opened' | 'decision.closed' }
>;

/** Finds what is new in the record of one task since it was read before. */
export class TaskTracker {
  #card = '';
  /** The open decisions that were told of. */
  readonly #open = new Map<string, DecisionView>();

  /** What changed; decisions that were closed before the first look are not told of. */
  actionsFor(record: TaskRecord): TrackedAction[] {
    const actions: TrackedAction[] = [];
    const card = cardOf(record);
    const facts = factsOf(card);
    if (facts !== this.#card) actions.push({ type: 'task.upserted', task: card });
    this.#card = facts;
    for (const decision of record.decisions) actions.push(...this.#decisionActions(record.task_id, decision));
    // Only the newest closed ones are in a record.
    const known = new Set(record.decisions.map(({ decision_id }) => decision_id));
    for (const { task_id, decision_id } of this.#open.values()) {
      if (known.has(decision_id)) continue;
      this.#open.delete(decision_id);
      const end = {
        verdict: 'withdrawn',
        by: 'session',
        reason: null,
        edits: [],
        at: record.ended_at ?? '',
      } as const;
      actions.push({ type: 'decision.closed', task_id, decision_id, end });
    }
    return actions;
  }

  #decisionActions(task_id: string, decision: Decision): TrackedAction[] {
    const { decision_id } = decision;
    const before = this.#open.get(decision_id);
    const end = endOf(decision);
    if (end !== null) {
      if (before === undefined) return [];
      this.#open.delete(decision_id);
      return [{ type: 'decision.closed', task_id, decision_id, end }];
    }
    const view = decisionViewOf(task_id, decision);
    if (before !== undefined && before.input_sha256 === view.input_sha256) return [];
    this.#open.set(decision_id, view);
    return [{ type: 'decision.opened', decision: view }];
  }
}

/** All but the time, which a page counts itself. */
function factsOf(card: TaskCard): string {
  return JSON.stringify({ ...card, elapsed_seconds: card.is_final ? card.elapsed_seconds : 0 });
}
