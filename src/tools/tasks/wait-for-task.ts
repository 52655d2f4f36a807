import { z } from 'zod';
import { pollingHint } from '../../tasks/polling-hint.js';
import type { ToolCall } from '../../mcp/tool.js';
import type { TaskService, WaitOutcome } from '../../tasks/task-service.js';
import { isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';
import { WaitCursor } from '../../tasks/watch/task-waiter.js';
import { appPages } from '../../base/package.js';
import { defineTool } from '../define-tool.js';
import { askPerson } from './ask-person.js';
import { YOU_ARE_CALLED } from '../instructions.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import {
  cutHint,
  isOver,
  lastOutputOf,
  REQUESTS_BYTES,
  taskIdInput,
  taskOutput,
  taskView,
} from './task-fields.js';

/** Clients cut calls at 60 s; progress does not extend that. */
export const MAX_WAIT_SECONDS = 45;
/** As many as the bridge runs at once. */
const MAX_TASKS = 20;
const MS_PER_SECOND = 1_000;

const waitedTask = z.object({
  ...taskOutput,
  changed: z.boolean(),
  elapsed_seconds: z.int(),
  reason: z.string(),
  activity: z.string(),
  exit_code: z.int().nullable().optional(),
  last_output: z.string().optional(),
  hint: z.string().optional(),
});

export const waitForTask = defineTool({
  name: 'wait_for_task',
  title: 'Wait for tasks',
  toolset: 'tasks',
  effect: 'read',
  searchHint: 'follow a delegated task until it ends or asks',
  alwaysLoad: true,
  app: { resourceUri: appPages.decision.uri },
  description:
    'Wait until a task ends, asks or goes on. Pass the cursor back. Answer decisions with respond_to_task.',
  input: {
    task_ids: z.array(taskIdInput).min(1).max(MAX_TASKS),
    timeout_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).optional(),
    cursor: z.string().optional(),
  },
  output: { tasks: z.array(waitedTask), cursor: z.string() },
  handle: async ({ task_ids, timeout_seconds, cursor }, services, call) => {
    const tasks = await services.tasks();
    const taskIds = [...new Set(task_ids.map((id) => knownTaskId(id)))];
    const isFollowed = await followed(taskIds, tasks, call);
    const seconds = isFollowed ? 0 : (timeout_seconds ?? MAX_WAIT_SECONDS);
    const outcome = await waitForChange(taskIds, { cursor, seconds, isFollowed }, tasks, call);
    const changed = new Set(outcome.changed);
    const requestsBytes = Math.floor(REQUESTS_BYTES / Math.max(1, changed.size));
    return {
      tasks: outcome.tasks.map((record) => {
        const view = waitedView(record, changed.has(record.task_id), requestsBytes);
        return isFollowed && !isOver(record) ? { ...view, hint: YOU_ARE_CALLED } : view;
      }),
      cursor: outcome.cursor,
    };
  },
});

/** Waits, and has the person at the client answer what is asked meanwhile: the caller need not see that, nor be woken by it. */
export async function waitForChange(
  taskIds: readonly string[],
  from: { readonly cursor: string | undefined; readonly seconds: number; readonly isFollowed?: boolean },
  tasks: TaskService,
  call: ToolCall,
): Promise<WaitOutcome> {
  const deadlineMs = performance.now() + from.seconds * MS_PER_SECOND;
  const leftMs = (): number => Math.max(0, deadlineMs - performance.now());
  const wait = (cursor: string | undefined): Promise<WaitOutcome> =>
    tasks.wait({
      taskIds,
      timeoutMs: leftMs(),
      cursor,
      signal: call.signal,
      onProgress: (text) => call.progress(text),
    });
  let outcome = await wait(from.cursor);
  while (from.isFollowed !== true) {
    const answered = await anyAnswered(outcome.tasks, tasks, call, leftMs());
    if (answered === undefined) break;
    outcome = await wait(cursorAfter(outcome.tasks, answered));
  }
  return outcome;
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
  if (first !== undefined && more.length === 0 && taskIds.length === 1) follower.follow(first);
  return going.length > 0 && more.length === 0 && (first === undefined || taskIds.length === 1);
}

/** The records that the answers of a person left; undefined when none was given. */
async function anyAnswered(
  records: readonly TaskRecord[],
  tasks: Pick<TaskService, 'respond'>,
  call: ToolCall,
  leftMs: number,
): Promise<readonly TaskRecord[] | undefined> {
  const after: TaskRecord[] = [];
  const answering: Pick<TaskService, 'respond'> = {
    respond: async (taskId, answer) => {
      const record = await tasks.respond(taskId, answer);
      after.push(record);
      return record;
    },
  };
  for (const record of records)
    if ((await askPerson(record, answering, call.person, leftMs)) === 'answered') return after;
  return undefined;
}

/** After what was seen, and after the answers, unless there is more to see at once. */
function cursorAfter(seen: readonly TaskRecord[], answered: readonly TaskRecord[]): string {
  const isQuiet = (record: TaskRecord): boolean =>
    !isFinal(record.status) && record.status !== 'waiting' && openDecisions(record).length === 0;
  const quiet = new Map(answered.filter(isQuiet).map((record) => [record.task_id, record]));
  return WaitCursor.of(seen.map((record) => quiet.get(record.task_id) ?? record));
}

/** What did not change is shortened: the caller has read it before. */
function waitedView(record: TaskRecord, changed: boolean, requestsBytes: number): z.input<typeof waitedTask> {
  const view = taskView(record, changed ? requestsBytes : 0);
  return {
    ...view,
    changed,
    elapsed_seconds: Math.floor(record.elapsed_seconds),
    reason: record.reason,
    activity: record.activity,
    ...(changed && {
      exit_code: record.exit_code,
      // With a decision open, what is asked is the news.
      ...(view.decisions.length === 0 && { last_output: lastOutputOf(record) }),
    }),
    ...((changed || view.decisions.length > 0) && { hint: `${pollingHint(record)}${cutHint(view)}` }),
  };
}

/** For tools after which a caller would wait anyway. */
export const waitSecondsInput = z.int().min(0).max(MAX_WAIT_SECONDS).optional().describe('Then wait');

export const waitedOutput = { reason: z.string().optional(), last_output: z.string().optional() };

interface Waited {
  readonly record: TaskRecord;
  readonly cursor: string;
  /** What the answer of a wait has besides. */
  readonly more: { readonly reason?: string; readonly last_output?: string };
}

/** Waits as `wait_for_task` does, unless the client follows the task anyway. */
export async function thenWait(
  record: TaskRecord,
  seconds: number | undefined,
  tasks: TaskService,
  call: ToolCall,
): Promise<Waited> {
  const cursor = WaitCursor.of([record]);
  if (seconds === undefined || call.follower?.follows(record.task_id) === true)
    return { record, cursor, more: {} };
  const outcome = await waitForChange([record.task_id], { cursor, seconds }, tasks, call);
  const after = outcome.tasks[0] ?? record;
  return {
    record: after,
    cursor: outcome.cursor,
    more: { reason: after.reason, last_output: lastOutputOf(after) },
  };
}
