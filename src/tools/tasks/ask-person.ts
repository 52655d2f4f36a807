import { ignoreBridgeError } from '../../base/errors.js';
import type { Person } from '../../mcp/person.js';
import type { TaskService } from '../../tasks/task-service.js';
import { openDecisions, type TaskRecord } from '../../tasks/task.js';
import { answerIn, decisionForm, passOn } from './decision-form.js';

const KEY_SEPARATOR = '.';
/** The longest time that a timer of Node measures. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Asks the person at the client about the first open decision, and passes the answer on. Resolves with the task after an answer, which may
 * be that of another route. Undefined where there is none: the call comes again, or its caller sees the decision as always.
 */
export async function askPerson(
  record: TaskRecord,
  tasks: Pick<TaskService, 'respond'>,
  person: Person | undefined,
  timeoutMs: number,
): Promise<TaskRecord | undefined> {
  const { task_id } = record;
  const [decision] = openDecisions(record);
  if (decision === undefined || person === undefined) return undefined;
  const form = decisionForm(record, decision);
  if (form === undefined) return undefined;
  const said = await person.ask(formKey(task_id, decision.decision_id), form, timeoutMs, {
    limitMs: Math.min(Date.parse(decision.expires_at) - Date.now(), MAX_TIMER_MS),
    // No call waits for it any more. What the bridge refuses is in the status of the task.
    onAnswer: (late) => void passOn(task_id, answerIn(form, decision, late), tasks).catch(ignoreBridgeError),
  });
  const after = await passOn(task_id, answerIn(form, decision, said), tasks);
  return after === 'late' ? record : after;
}

/** What is left of so many seconds from now on, in milliseconds, each time it is called. */
export function timeLeft(seconds: number): () => number {
  const deadlineMs = performance.now() + seconds * 1_000;
  return () => Math.max(0, deadlineMs - performance.now());
}

/** What names the form of a decision. */
export function formKey(taskId: string, decisionId: string): string {
  return `${taskId}${KEY_SEPARATOR}${decisionId}`;
}

/** The task that an earlier run of this call asked the person about: the same call has come again with the answer. */
export function askedTask(person: Person | undefined): string | undefined {
  return person?.answeredKeys[0]?.split(KEY_SEPARATOR)[0];
}
