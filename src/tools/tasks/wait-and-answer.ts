import { z } from 'zod';
import { BY_CALLER } from '../../tasks/task-host.js';
import { BridgeError } from '../../base/errors.js';
import { appPages } from '../../base/package.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { made, type ToolCall } from '../../mcp/tool.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import type { TaskService, WaitOutcome } from '../../tasks/task-service.js';
import { isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';
import { WaitCursor } from '../../tasks/watch/task-waiter.js';
import { defineTool, MAX_WAIT_SECONDS, requestIdInput, textWithin, within } from '../define-tool.js';
import { YOU_ARE_CALLED } from '../instructions.js';
import { askPerson, formKey, timeLeft } from './ask-person.js';
import {
  cutHint,
  isOver,
  lastOutputOf,
  progressOf,
  REQUESTS_BYTES,
  requestView,
  taskOutput,
  taskView,
} from './task-fields.js';

/** As many as the bridge runs at once. */
const MAX_TASKS = 20;
/** Longer words are a prompt, and belong into message_task. */
const MAX_MESSAGE_CHARS = 10_000;
/** It is typed into the session; more belongs into a file that the message names. */
const MAX_TEXT_CHARS = 100_000;

export const waitForTask = defineTool({
  name: 'wait_for_task',
  title: 'Wait for tasks',
  effect: 'read',
  searchHint: 'follow a delegated task until it ends or asks',
  alwaysLoad: true,
  page: appPages.decision.uri,
  description:
    'Wait until a task ends, asks or goes on. Pass the cursor back. Answer decisions with respond_to_task.',
  input: {
    task_ids: z.array(z.string()).min(1).max(MAX_TASKS),
    timeout_seconds: within(0, MAX_WAIT_SECONDS).optional(),
    cursor: z.string().optional(),
  },
  output: {
    tasks: z.array(made<ReturnType<typeof waitedView>>()),
    cursor: z.string(),
  },
  handle: async ({ taskIds: given, timeoutSeconds = MAX_WAIT_SECONDS, cursor }, services, call) => {
    const tasks = await services.tasks();
    const taskIds = [...new Set(given.map((id) => knownTaskId(id)))];
    const isFollowed = await followed(taskIds, tasks, call);
    // The person is asked by the client that follows the tasks, and its model need not wait.
    const outcome = isFollowed
      ? await waitForChange(taskIds, cursor, 0, tasks, { ...call, person: undefined })
      : await waitForChange(taskIds, cursor, timeoutSeconds, tasks, call);
    const changed = new Set(outcome.changed);
    const requestsBytes = Math.floor(REQUESTS_BYTES / Math.max(1, changed.size));
    const views = outcome.tasks.map((record) => ({
      ...waitedView(record, changed.has(record.task_id), requestsBytes),
      ...(isFollowed && !isOver(record) && { hint: YOU_ARE_CALLED }),
    }));
    return { tasks: views, cursor: outcome.cursor };
  },
});

/** What did not change is shortened: the caller has read it before. */
function waitedView(record: TaskRecord, changed: boolean, requestsBytes: number) {
  const view = taskView(record, changed ? requestsBytes : 0);
  const isAsked = view.decisions.length > 0;
  return {
    ...view,
    changed,
    ...(record.line !== undefined && { line: record.line }),
    ...progressOf(record),
    ...(changed && { exit_code: record.exit_code }),
    // With a decision open, what is asked is the news.
    ...(changed && !isAsked && { last_output: lastOutputOf(record) }),
    ...((changed || isAsked) && { hint: `${pollingHint(record)}${cutHint(view)}` }),
  };
}

/**
 * Whether the client follows each of these tasks that goes on, so that waiting would tell its model the same twice. One task
 * that it does not follow yet, it follows from here on.
 */
async function followed(
  taskIds: readonly string[],
  tasks: Pick<TaskService, 'get'>,
  { follower }: ToolCall,
): Promise<boolean> {
  if (follower === undefined) return false;
  const records = await Promise.all(taskIds.map((id) => tasks.get(id)));
  const going = records.filter((record) => !isOver(record)).map(({ task_id }) => task_id);
  const [first, ...more] = going.filter((id) => !follower.follows(id));
  if (first === undefined) return going.length > 0;
  if (more.length > 0 || taskIds.length > 1) return false;
  follower.follow(first);
  return true;
}

/** Waits, and has the person at the client answer what is asked meanwhile: the caller need not see that, nor be woken by it. */
async function waitForChange(
  taskIds: readonly string[],
  from: string | undefined,
  seconds: number,
  tasks: TaskService,
  { signal, person, progress: onProgress }: ToolCall,
): Promise<WaitOutcome> {
  const leftMs = timeLeft(seconds);
  for (let cursor = from; ;) {
    const outcome = await tasks.wait({ taskIds, timeoutMs: leftMs(), cursor, signal, onProgress });
    let after: TaskRecord | undefined;
    for (const record of outcome.tasks) after ??= await askPerson(record, tasks, person, leftMs());
    if (after === undefined) return outcome;
    cursor = cursorAfter(outcome.tasks, after);
  }
}

/** After what was seen, and after the answer, unless there is more to see at once. */
function cursorAfter(seen: readonly TaskRecord[], after: TaskRecord): string {
  const isQuiet = !isFinal(after.status) && after.status !== 'waiting' && openDecisions(after).length === 0;
  return WaitCursor.of(seen.map((record) => (isQuiet && record.task_id === after.task_id ? after : record)));
}

/** Of a list of labels, as Claude Code takes several. */
const joined = (given: unknown): unknown => (Array.isArray(given) ? given.join(', ') : given);
const waitSecondsInput = within(0, MAX_WAIT_SECONDS).optional().describe('Then wait');

const afterOutput = {
  ...taskOutput,
  reason: z.string().optional(),
  last_output: z.string().optional(),
  cursor: z.string(),
  hint: z.string(),
};

/** The task after `seconds` more, as `wait_for_task` waits, unless the client follows it anyway. */
async function afterWait(
  record: TaskRecord,
  seconds: number | undefined,
  tasks: TaskService,
  call: ToolCall,
) {
  const isWaiting = seconds !== undefined && call.follower?.follows(record.task_id) !== true;
  const cursor = WaitCursor.of([record]);
  const outcome = isWaiting
    ? await waitForChange([record.task_id], cursor, seconds, tasks, call)
    : { tasks: [record], cursor };
  const [after = record] = outcome.tasks;
  const view = taskView(after);
  return {
    ...view,
    cursor: outcome.cursor,
    hint: `${nextTool(after)}${cutHint(view)}`,
    ...(isWaiting && { reason: after.reason, last_output: lastOutputOf(after) }),
  };
}

/** The caller of another toolset follows its task by a tool of that. */
function nextTool(record: TaskRecord): string {
  if (record.purpose === 'ask') return 'ask_status has the answer when it is there.';
  return record.delegated === true ? 'TaskStatus shows how it goes on.' : pollingHint(record);
}

export const respondToTask = defineTool({
  name: 'respond_to_task',
  title: 'Answer a decision',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'answer a question or permission request of a delegated task',
  alwaysLoad: true,
  description: 'Answer an open decision of a task. The first answer wins.',
  input: {
    task_id: z.string(),
    decision_id: z.string(),
    verdict: z.enum(['allow', 'allow_session', 'deny']),
    message: textWithin(0, MAX_MESSAGE_CHARS).optional().describe('With deny: why, or what to do instead'),
    answers: z
      .record(z.string(), z.preprocess(joined, z.string().max(MAX_MESSAGE_CHARS)))
      .optional()
      .describe(
        'Question to label (several: a, b) or text; else input field to new text; for a plan also mode: auto, acceptEdits',
      ),
    wait_seconds: waitSecondsInput,
    request_id: requestIdInput,
  },
  output: { ...afterOutput, cursor: z.string().optional() },
  handle: async ({ taskId: given, decisionId, waitSeconds, requestId, ...said }, services, call) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(given);
    const unseen = said.verdict === 'deny' ? '' : unseenOf(await tasks.get(taskId), decisionId);
    const answer = { decision_id: decisionId, ...said, by: BY_CALLER, request_id: requestId };
    const record = await tasks.respond(taskId, answer);
    call.person?.close?.(formKey(taskId, decisionId));
    const { cursor, ...after } = await afterWait(record, waitSeconds, tasks, call);
    const isWaitedFor = record.purpose !== 'ask' && record.delegated !== true;
    const hasCursor = isWaitedFor || isFinal(after.status);
    return { ...after, ...(hasCursor && { cursor }), hint: `${unseen}${after.hint}` };
  },
});

/** A yes to what no answer of these tools shows whole is said to be one. */
function unseenOf(record: TaskRecord, decisionId: string): string {
  const decision = openDecisions(record).find(({ decision_id }) => decision_id === decisionId);
  const { cut } = decision === undefined ? {} : requestView(decision, record.task_id);
  return cut === undefined ? '' : `You allowed more than these tools showed of ${decisionId} (${cut}). `;
}

export const messageTask = defineTool({
  name: 'message_task',
  title: 'Message a task',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'send a follow-up to a running agent',
  description: 'Send a follow-up message to a live session, or interrupt its turn, or both.',
  input: {
    task_id: z.string(),
    text: z.string().max(MAX_TEXT_CHARS).optional(),
    interrupt: z.boolean().optional().describe('Esc first'),
    wait_seconds: waitSecondsInput,
    request_id: requestIdInput,
  },
  output: afterOutput,
  handle: async ({ taskId: given, text, interrupt, waitSeconds, requestId }, services, call) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(given);
    if (text === undefined && interrupt !== true) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'message_task needs text, interrupt or both.',
        'Pass text to send it, or interrupt: true to stop the current turn.',
      );
    }
    return afterWait(await tasks.message(taskId, { text, interrupt, requestId }), waitSeconds, tasks, call);
  },
});
