// Pure.
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { TASK_ID_PATTERN } from '../../base/ids.js';
import { oneLine, tailChars } from '../../base/text/text.js';
import { openDecisions, taskStatusSchema, type Decision, type TaskRecord } from '../../tasks/task.js';
import { requestView } from './request-view.js';

/** As the specification says of `last_output`. */
const LAST_OUTPUT_CHARS = 500;
const SUMMARY_CHARS = 1_000;
const LABEL_CHARS = 300;
const MAX_OPTIONS = 20;
const MAX_ID_CHARS = 60;
/** A session asks one thing at a time, subagents a few more. */
const MAX_DECISIONS = 10;
/** What the requests of one answer hold at most. */
export const REQUESTS_BYTES = 12_000;

/** Any text is accepted here: text that is not a task id gets the answer of an unknown id. */
export const taskIdInput = z.string();

const questionView = z.object({
  question: z.string(),
  header: z.string(),
  multi_select: z.boolean(),
  options: z.array(z.string()),
});

const decisionView = z.object({
  decision_id: z.string(),
  kind: z.string(),
  tool: z.string(),
  summary: z.string(),
  options: z.array(z.string()),
  expires_at: z.string(),
  /** Which rule asks, and its reason. */
  why: z.string().optional(),
  questions: z.array(questionView).optional(),
  /** What is asked, field by field. */
  request: z.record(z.string(), z.string()).optional(),
  /** In words: how much of the request is not shown, and where it is. */
  cut: z.string().optional(),
});

/** For the next wait: of the task as this answer shows it. */
export const cursorOutput = z.string();
export const taskIdOutput = z.string();
export const statusOutput = taskStatusSchema;
export const decisionsOutput = z.array(decisionView);

/** The fields of every reply that shows a task. */
export const taskOutput = {
  task_id: taskIdOutput,
  status: statusOutput,
  queue_position: z.int().optional(),
  decisions: decisionsOutput,
};

/** `requestsBytes`: for what the open decisions ask, together; 0 leaves it out. */
export function taskView(
  record: TaskRecord,
  requestsBytes = REQUESTS_BYTES,
): z.input<z.ZodObject<typeof taskOutput>> {
  const open = openDecisions(record).slice(0, MAX_DECISIONS);
  const each = Math.floor(requestsBytes / Math.max(1, open.length));
  return {
    task_id: record.task_id,
    status: record.status,
    ...(record.queue_position !== undefined && { queue_position: record.queue_position }),
    decisions: open.map((decision) => viewOf(decision, record.task_id, each)),
  };
}

function viewOf(decision: Decision, taskId: string, requestBytes: number): z.input<typeof decisionView> {
  const { decision_id, kind, tool, summary, options, expires_at, why, questions } = decision;
  return {
    decision_id,
    kind,
    tool: label(tool),
    summary: oneLine(summary, SUMMARY_CHARS),
    options: options.slice(0, MAX_OPTIONS).map(label),
    expires_at,
    ...(why !== undefined && { why }),
    ...(questions !== undefined && {
      questions: questions.map((question) => ({
        question: oneLine(question.question, SUMMARY_CHARS),
        header: label(question.header),
        multi_select: question.multiSelect,
        options: question.options.slice(0, MAX_OPTIONS).map((option) => optionText(option)),
      })),
    }),
    ...(requestBytes > 0 && requestView(decision, taskId, requestBytes)),
  };
}

/** What a caller does about requests that it does not see whole; empty where there are none. */
export function cutHint({ decisions }: Pick<z.input<z.ZodObject<typeof taskOutput>>, 'decisions'>): string {
  const ids = decisions.filter(({ cut }) => cut !== undefined).map(({ decision_id }) => decision_id);
  if (ids.length === 0) return '';
  return ` Of ${ids.join(', ')} not all is shown: read the rest (see cut) before you allow it.`;
}

/** An answer repeats the label; its description follows it. */
function optionText(option: { readonly label: string; readonly description?: string | undefined }): string {
  const words =
    option.description === undefined || option.description === '' ? '' : `: ${option.description}`;
  return label(`${option.label}${words}`);
}

function label(text: string): string {
  return oneLine(text, LABEL_CHARS);
}

export function lastOutputOf(record: TaskRecord): string {
  return tailChars(record.last_output, LAST_OUTPUT_CHARS);
}

/** The id as services take it. Throws TASK_NOT_FOUND for text that cannot be one, before it could become part of a path. */
export function knownTaskId(text: string): string {
  if (TASK_ID_PATTERN.test(text)) return text;
  throw new BridgeError(
    'TASK_NOT_FOUND',
    `Unknown task ${oneLine(JSON.stringify(text), MAX_ID_CHARS)}. A task id looks like task_0123456789abcdef0123.`,
    'list_tasks gives the whole ids. Short ones, the last six digits, are for commands in a terminal.',
  );
}

/** The folder of a task's own git worktree, as long as there is one. */
export function worktreeOf({ worktree }: TaskRecord): { worktree?: string } {
  return worktree === undefined || worktree.finished !== undefined ? {} : { worktree: worktree.path };
}
