// Pure.
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { isFinal, taskStatusSchema } from '../tasks/task.js';
import { askState, endState } from './caller-notice.js';

const viewSchema = z.looseObject({
  task_id: z.string(),
  status: taskStatusSchema,
  decisions: z.array(z.looseObject({ decision_id: z.string() })).optional(),
});
const answerSchema = z.union([
  viewSchema.transform((view) => [view]),
  z.looseObject({ tasks: z.array(viewSchema) }).transform(({ tasks }) => tasks),
]);

/** The calls of the caller: which states of tasks their answers have shown to its model. */
export class CallerCalls {
  readonly #seen = new Set<string>();
  readonly #clock: Clock;
  #open = 0;
  #lastEndedMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The states that an answer has shown, as `newStates` names them. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** How long no call has waited for its answer; 0 while one does. */
  get quietMs(): number {
    return this.#open > 0 ? 0 : this.#clock.monotonicMs() - this.#lastEndedMs;
  }

  began(): void {
    this.#open++;
  }

  /** `answer`: the structured content of the answer, where it has some. */
  ended(answer: unknown): void {
    this.#open--;
    this.#lastEndedMs = this.#clock.monotonicMs();
    for (const { task_id, status, decisions = [] } of answerSchema.safeParse(answer).data ?? []) {
      if (isFinal(status)) this.#seen.add(endState(task_id));
      for (const { decision_id } of decisions) this.#seen.add(askState(task_id, decision_id));
    }
  }
}
