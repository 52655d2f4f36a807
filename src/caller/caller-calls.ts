import { z } from 'zod';
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
  #open = 0;

  /** The states that an answer has shown, as `newStates` names them. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** True while a call waits for its answer. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  began(): void {
    this.#open++;
  }

  /** `answer`: the structured content of the answer, where it has some. */
  ended(answer: unknown): void {
    this.#open--;
    for (const { task_id, status, decisions = [] } of answerSchema.safeParse(answer).data ?? []) {
      if (isFinal(status)) this.#seen.add(endState(task_id));
      for (const { decision_id } of decisions) this.#seen.add(askState(task_id, decision_id));
    }
  }
}
