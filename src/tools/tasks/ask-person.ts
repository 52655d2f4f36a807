import { BridgeError, ignoreBridgeError } from '../../base/errors.js';
import type { Person, PersonAnswer } from '../../mcp/person.js';
import type { TaskService } from '../../tasks/task-service.js';
import { openDecisions, type Decision, type TaskRecord } from '../../tasks/task.js';
import { decisionAnswerOf, decisionForm, declined } from './decision-form.js';

const KEY_SEPARATOR = '.';
/** The longest time that a timer of Node measures. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TOO_LATE: ReadonlySet<string> = new Set(['DECISION_CLOSED', 'DECISION_NOT_FOUND', 'TASK_NOT_RUNNING']);

/**
 * Asks the person at the client about the first open decision, and passes the answer on; to decline is to deny. `answered`:
 * some route has answered it. `later`: the call comes again. `unanswered`: the caller sees the decision as always.
 */
export async function askPerson(
  record: TaskRecord,
  tasks: Pick<TaskService, 'respond'>,
  person: Person | undefined,
  timeoutMs: number,
): Promise<'answered' | 'later' | 'unanswered'> {
  const [decision] = openDecisions(record);
  if (decision === undefined || person === undefined) return 'unanswered';
  const key = formKey(record.task_id, decision.decision_id);
  const form = decisionForm(record, decision);
  if (form === undefined) return 'unanswered';
  const said = await person.ask(key, form, timeoutMs, {
    limitMs: Math.min(Date.parse(decision.expires_at) - Date.now(), MAX_TIMER_MS),
    // No call waits for it any more. What the bridge refuses is in the status of the task.
    onAnswer: (late) => void passOn(record.task_id, decision, late, tasks).catch(ignoreBridgeError),
  });
  return passOn(record.task_id, decision, said, tasks);
}

async function passOn(
  taskId: string,
  decision: Decision,
  said: PersonAnswer,
  tasks: Pick<TaskService, 'respond'>,
): Promise<'answered' | 'later' | 'unanswered'> {
  if (said.kind === 'later' || said.kind === 'unanswered') return said.kind;
  const answer = said.kind === 'declined' ? declined(decision) : decisionAnswerOf(decision, said.values);
  if (answer === undefined) return 'unanswered';
  try {
    await tasks.respond(taskId, answer);
  } catch (thrown) {
    if (!(thrown instanceof BridgeError)) throw thrown;
    // What was written does not fit, such as a command that a rule denies: the decision is still open.
    if (thrown.code === 'INVALID_ARGUMENTS') return 'unanswered';
    // Another route was first, or the task has ended: the next read shows which.
    if (!TOO_LATE.has(thrown.code)) throw thrown;
  }
  return 'answered';
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
