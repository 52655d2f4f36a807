import { expect, test } from 'vitest';
import { pollingHint } from '../../src/tasks/polling-hint.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { decision, taskRecord } from '../tools/fake-task-service.js';

const FOLLOW = 'Call wait_for_task with the cursor; it answers as soon as that changes.';
const RECEIPT = 'get_task_result gives its receipt.';
const GO_ON = 'Go on from it with start_task and continue_from task_0123456789abcdef0123.';

test.each<[Partial<TaskRecord>, string]>([
  [{ status: 'pending' }, `Task is queued. It will start shortly. ${FOLLOW}`],
  [{ status: 'pending', queue_position: 2 }, `Task is queued, place 2. It starts automatically. ${FOLLOW}`],
  [{ status: 'starting' }, `Task is initializing. ${FOLLOW}`],
  [{ status: 'running' }, `Task is still processing. ${FOLLOW}`],
  [{ status: 'running', elapsed_seconds: 60 }, `Task is actively running. ${FOLLOW}`],
  [{ status: 'running', elapsed_seconds: 300 }, `Task is running a long operation. ${FOLLOW}`],
  [
    { status: 'completed' },
    'Task completed successfully. Review the output above. That is what it says of itself: get_task_result gives its receipt, with its commands and how each ended.',
  ],
  [
    { status: 'killed', ended_by_budget: 'task', session_id: 's' },
    `Task was ended at its budget; its work is where it was. ${GO_ON} It gets a budget of its own: max_cost_usd and max_tokens, up to what the setting task_budget of the user allows. ${RECEIPT}`,
  ],
  [
    { status: 'killed', ended_by_budget: 'day', session_id: null },
    `Task was ended at its budget; its work is where it was. Start a new task with start_task. That is possible tomorrow, or when the user has raised the setting day_budget. ${RECEIPT}`,
  ],
  [
    { status: 'running', line: 'unverifiable since 14:02; as of 14:01' },
    'The machine of task_0123456789abcdef0123 does not answer: unverifiable since 14:02; as of 14:01. The task runs on there, as far as is known. Answers and messages are refused until it answers again: wait_for_task goes on meanwhile.',
  ],
  [{ status: 'completed', driver: 'native' }, 'The session is over for the bridge; its reason says why.'],
  [
    { status: 'failed', exit_code: 2, last_output: 'no such file' },
    `Task failed with exit code 2. Review the error output above. ${RECEIPT}`,
  ],
  // A session that the API refused is left as any other.
  [
    { status: 'failed', exit_code: 0, last_output: 'I look.' },
    `Task failed. Its reason says why. ${RECEIPT}`,
  ],
  // A session in trouble can be gone on from, but not one that is full.
  [
    {
      status: 'failed',
      session_id: 's',
      exit_code: 1,
      last_output: 'I look.',
      trouble: { kind: 'usage-limit', since: '', resumes_at: null },
    },
    `Task failed with exit code 1. Its reason says why. ${GO_ON} ${RECEIPT}`,
  ],
  [
    { status: 'failed', session_id: 's', trouble: { kind: 'context-full', since: '', resumes_at: null } },
    `Task failed. Its reason says why. ${RECEIPT}`,
  ],
  [
    { status: 'failed', exit_code: null, signal: 'SIGKILL', last_output: 'I look.' },
    `Task failed: a signal ended it (SIGKILL). Review the error output above. ${RECEIPT}`,
  ],
  [
    { status: 'timeout', undone_at: '2026-01-02T03:04:05.000Z' },
    `Task exceeded the timeout limit and was terminated. ${RECEIPT} What it changed was undone at 2026-01-02T03:04:05.000Z; new files stayed.`,
  ],
  [{ status: 'killed' }, `Task was manually terminated. ${RECEIPT}`],
  [
    { status: 'error', session_id: 's' },
    `An internal error occurred: its reason says what broke it off. get_task_output shows how far it got. ${GO_ON} ${RECEIPT}`,
  ],
  [
    { status: 'waiting', decisions: [decision(), decision({ decision_id: 'dec_2' })] },
    'Task waits for an answer to decisions dec_1, dec_2. Answer with respond_to_task, then call wait_for_task.',
  ],
  [{ status: 'waiting' }, 'Task waits for a message. Send one with message_task, or end it with kill_task.'],
])('%j hints at what to do next', (changes, hint) => {
  expect(pollingHint(taskRecord(changes))).toBe(hint);
});

test.each<[Partial<TaskRecord>, string]>([
  [{ status: 'running', reason: 'The turn is over; 1 background program still runs.' }, 'has answered'],
  [{ status: 'waiting', activity: 'A message waits to be sent: no box' }, 'tried again every ten seconds'],
  [{ status: 'waiting', driver: 'native' }, 'waits for its person'],
  [
    { status: 'waiting', trouble: { kind: 'not-logged-in', since: '', resumes_at: null } },
    'tried again automatically',
  ],
])('%j says what it waits for', (changes, words) => {
  expect(pollingHint(taskRecord(changes))).toContain(words);
});
