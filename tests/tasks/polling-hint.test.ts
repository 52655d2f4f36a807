import { expect, test } from 'vitest';
import { pollingHint } from '../../src/tasks/polling-hint.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { decision, taskRecord } from '../tools/fake-task-service.js';

test.each<[Partial<TaskRecord>, string]>([
  [
    { status: 'pending' },
    'Task is queued. It will start shortly. Call wait_for_task with the cursor; it answers as soon as that changes.',
  ],
  [
    { status: 'starting' },
    'Task is initializing. Call wait_for_task with the cursor; it answers as soon as that changes.',
  ],
  [
    { status: 'running' },
    'Task is still processing. Call wait_for_task with the cursor; it answers as soon as that changes.',
  ],
  [
    { status: 'completed' },
    'Task completed successfully. Review the output above. That is what it says of itself: get_task_result gives its receipt, with its commands and how each ended.',
  ],
  [
    { status: 'killed', ended_by_budget: 'task', session_id: 's' },
    'Task was ended at its budget; its work is where it was. Go on from it with start_task and continue_from task_0123456789abcdef0123. It gets a budget of its own: max_cost_usd and max_tokens, up to what the setting task_budget of the user allows. get_task_result gives its receipt.',
  ],
  [
    { status: 'killed', ended_by_budget: 'day', session_id: null },
    'Task was ended at its budget; its work is where it was. Start a new task with start_task. That is possible tomorrow, or when the user has raised the setting day_budget. get_task_result gives its receipt.',
  ],
  [
    { status: 'killed', reason: 'budget of the day: I spend no more on this.' },
    'Task was manually terminated. get_task_result gives its receipt.',
  ],
  [
    { status: 'running', elapsed_seconds: 60 },
    'Task is actively running. Call wait_for_task with the cursor; it answers as soon as that changes.',
  ],
  [
    { status: 'running', elapsed_seconds: 300 },
    'Task is running a long operation. Call wait_for_task with the cursor; it answers as soon as that changes.',
  ],
  [
    { status: 'running', reason: 'The turn is over; 1 background program still runs.' },
    'The agent has answered, see last_output. What the reason names goes on: a scheduled turn comes, and programs end, or are ended after ten minutes. Send a message with message_task, or end all of it with kill_task.',
  ],
  [
    {
      status: 'waiting',
      activity: 'A message waits to be sent: something covers the input box of Claude Code',
    },
    'A message waits to be sent: something covers the input box of Claude Code. It is tried again every ten seconds; get_task_output shows the screen, and message_task with interrupt presses Esc.',
  ],
  [
    { status: 'waiting', driver: 'native' },
    'The session waits for its person. wait_for_task reports when it goes on.',
  ],
  [{ status: 'completed', driver: 'native' }, 'The session is over for the bridge; its reason says why.'],
  [
    { status: 'failed', exit_code: 2, last_output: 'no such file' },
    'Task failed with exit code 2. Review the error output above. get_task_result gives its receipt.',
  ],
  [
    { status: 'failed', exit_code: 2, last_output: '' },
    'Task failed with exit code 2. Its reason says why. get_task_result gives its receipt.',
  ],
  // A session that the API refused is left as any other.
  [
    { status: 'failed', exit_code: 0, last_output: 'I look.' },
    'Task failed. Its reason says why. get_task_result gives its receipt.',
  ],
  [
    { status: 'failed', exit_code: null, signal: 'SIGKILL', last_output: 'I look.' },
    'Task failed: a signal ended it (SIGKILL). Review the error output above. get_task_result gives its receipt.',
  ],
  [
    { status: 'failed', exit_code: null, signal: null, last_output: '' },
    'Task failed. Its reason says why. get_task_result gives its receipt.',
  ],
  [
    { status: 'timeout' },
    'Task exceeded the timeout limit and was terminated. get_task_result gives its receipt.',
  ],
  [
    { status: 'timeout', undone_at: '2026-01-02T03:04:05.000Z' },
    'Task exceeded the timeout limit and was terminated. get_task_result gives its receipt. What it changed was undone at 2026-01-02T03:04:05.000Z; new files stayed.',
  ],
  [{ status: 'killed' }, 'Task was manually terminated. get_task_result gives its receipt.'],
  [
    { status: 'error' },
    'An internal error occurred: its reason says what broke it off. get_task_output shows how far it got. Start a new task with start_task. get_task_result gives its receipt.',
  ],
  [
    { status: 'error', session_id: 's' },
    `An internal error occurred: its reason says what broke it off. get_task_output shows how far it got. Go on from it with start_task and continue_from task_0123456789abcdef0123. get_task_result gives its receipt.`,
  ],
  [
    {
      status: 'waiting',
      trouble: { kind: 'not-logged-in', since: '2026-01-01T00:00:00.000Z', resumes_at: null },
    },
    'It is tried again automatically, as its reason says; wait_for_task reports whether the task goes on or fails. A message (message_task with interrupt) has it try at once.',
  ],
  [
    { status: 'waiting', decisions: [decision(), decision({ decision_id: 'dec_2' })] },
    'Task waits for an answer to decisions dec_1, dec_2. Answer with respond_to_task, then call wait_for_task.',
  ],
  [{ status: 'waiting' }, 'Task waits for a message. Send one with message_task, or end it with kill_task.'],
])('%j hints at what to do next', (changes, hint) => {
  expect(pollingHint(taskRecord(changes))).toBe(hint);
});
