// Pure: one delegation, as a model makes it: a task that asks once, a long wait, and its end.
import { fieldIn, fieldsIn, type Conversation } from './scripted-caller.js';

/** More turns than any delegation takes. */
const MAX_WAITS = 30;

export interface DelegationPlan {
  readonly project: string;
  /** Of the wait that follows the answer to the question. */
  readonly longWaitSeconds: number;
}

/** What the model of the client has learned at the end. */
export interface DelegationSeen {
  taskId: string;
  /** Tools that asked for a decision. */
  asked: number;
  /** What the long wait answered, and how long it took. */
  longWait: { status: string; seconds: number } | undefined;
  receipt: string;
}

export const DELEGATED = 'The task has ended.';

/** A conversation that delegates one task in mode `cautious`, and allows what is asked. `seen` is filled on the way. */
export function* delegation(plan: DelegationPlan, seen: DelegationSeen): Conversation {
  yield { name: 'set_active_project', args: { path: plan.project } };
  const started = yield {
    name: 'start_task',
    args: { prompt: 'Fix the bug.', permission_mode: 'cautious' },
  };
  seen.taskId = fieldIn(started, 'task_id');
  if (seen.taskId === '') return `The task did not start: ${started.slice(0, 300)}`;
  let cursor = fieldIn(started, 'cursor');
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const isLong = seen.asked > 0 && seen.longWait === undefined;
    const beginMs = performance.now();
    const waited = yield {
      name: 'wait_for_task',
      args: { task_ids: [seen.taskId], cursor, ...(isLong && { timeout_seconds: plan.longWaitSeconds }) },
    };
    cursor = fieldIn(waited, 'cursor');
    const status = fieldIn(waited, 'status');
    if (isLong) seen.longWait = { status, seconds: (performance.now() - beginMs) / 1_000 };
    // Both forms may reach the model: each question is answered once.
    for (const decision_id of new Set(fieldsIn(waited, 'decision_id'))) {
      seen.asked++;
      const answered = yield {
        name: 'respond_to_task',
        args: { task_id: seen.taskId, decision_id, verdict: 'allow' },
      };
      cursor = fieldIn(answered, 'cursor');
    }
    if (status === 'completed') {
      seen.receipt = yield { name: 'get_task_result', args: { task_id: seen.taskId } };
      return DELEGATED;
    }
    if (status !== 'running' && status !== 'waiting' && status !== 'starting')
      return `The wait failed: ${waited.slice(0, 300)}`;
  }
  return 'The task did not end.';
}

/** Nothing seen yet. */
export function nothingSeen(): DelegationSeen {
  return { taskId: '', asked: 0, longWait: undefined, receipt: '' };
}
