// Pure.
import { z } from 'zod';
import { countOf, headBytes, oneLine, tailChars } from '../../base/text.js';
import { made } from '../../mcp/tool.js';
import {
  isFinal,
  openDecisions,
  taskStatusSchema,
  WAITS_FOR_MESSAGE,
  type Decision,
  type TaskRecord,
} from '../../tasks/task.js';

/** As the specification says of `last_output`. */
const LAST_OUTPUT_CHARS = 500;
const SUMMARY_CHARS = 1_000;
const LABEL_CHARS = 300;
const MAX_OPTIONS = 20;
/** A session asks one thing at a time, subagents a few more. */
const MAX_DECISIONS = 10;
/** What the requests of one answer hold at most. */
export const REQUESTS_BYTES = 12_000;
/** What is shown of one request. */
const MAX_REQUEST_BYTES = 4_096;
/** Of the bytes that are left, a field takes at most one part of so many: the next ones are seen, too. */
const SHARES_LEFT = 2;

export const decisionsOutput = z.array(made<DecisionView>());
type DecisionView = ReturnType<typeof viewOf>;

/** The fields of every reply that shows a task. */
export const taskOutput = {
  task_id: z.string(),
  status: taskStatusSchema,
  queue_position: z.int().optional(),
  decisions: decisionsOutput,
};

type TaskView = z.input<z.ZodObject<typeof taskOutput>>;

/** `requestsBytes`: for what the open decisions ask, together; 0 leaves it out. */
export function taskView(record: TaskRecord, requestsBytes = REQUESTS_BYTES): TaskView {
  const { task_id, status, queue_position } = record;
  const open = openDecisions(record).slice(0, MAX_DECISIONS);
  const each = Math.floor(requestsBytes / Math.max(1, open.length));
  return {
    task_id,
    status,
    ...(queue_position !== undefined && { queue_position }),
    decisions: open.map((decision) => viewOf(decision, task_id, each)),
  };
}

/** `why`: which rule asks, and its reason. `request`: what is asked, field by field; `cut`: how much of it is not shown, and where it is. */
function viewOf(decision: Decision, taskId: string, requestBytes: number) {
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
      questions: questions.map((asked) => ({
        question: oneLine(asked.question, SUMMARY_CHARS),
        header: label(asked.header),
        multi_select: asked.multiSelect,
        // An answer repeats the label; its description follows it.
        options: asked.options
          .slice(0, MAX_OPTIONS)
          .map((one) => label(one.description ? `${one.label}: ${one.description}` : one.label)),
      })),
    }),
    ...(requestBytes > 0 && requestView(decision, taskId, requestBytes)),
  };
}

interface RequestView {
  readonly request?: Record<string, string>;
  readonly cut?: string;
}

/** The fields of the request, at most `maxBytes` of them, and in words what is not shown. A question is shown as such. */
export function requestView(decision: Decision, taskId: string, maxBytes = MAX_REQUEST_BYTES): RequestView {
  const fields = Object.entries(decision.input);
  if (fields.length === 0 || (decision.questions ?? []).length > 0) return {};
  const request: Record<string, string> = {};
  let left = Math.min(maxBytes, MAX_REQUEST_BYTES);
  let missing = 0;
  for (const [index, [name, value]] of fields.entries()) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isLast = index === fields.length - 1;
    const restBytes = Buffer.byteLength(JSON.stringify(fields.slice(index + 1)));
    // What follows gets what it needs, as far as that is no more than its part.
    const bytes = isLast ? left : left - Math.min(restBytes, Math.floor(left / SHARES_LEFT));
    const head = headBytes(text, Math.max(0, bytes));
    request[name] = head.length < text.length ? `${head}…` : head;
    missing += text.length - head.length;
    left -= Buffer.byteLength(head);
  }
  const cut = [
    ...(missing > 0 ? [`${countOf(missing)} characters more: read tasks://${taskId}`] : []),
    ...(decision.input_is_cut === true ? [KEPT_CUT] : []),
  ].join('; ');
  return { request, ...(cut !== '' && { cut }) };
}

const KEPT_CUT =
  'the request is longer than the bridge keeps, and its end is shown nowhere: deny it, or have a person look at the terminal (attach)';

/** What a caller does about requests that it does not see whole; empty where there are none. */
export function cutHint({ decisions }: Pick<TaskView, 'decisions'>): string {
  const ids = decisions.filter(({ cut }) => cut !== undefined).map(({ decision_id }) => decision_id);
  if (ids.length === 0) return '';
  return ` Of ${ids.join(', ')} not all is shown: read the rest (see cut) before you allow it.`;
}

function label(text: string): string {
  return oneLine(text, LABEL_CHARS);
}

/** What is in the way of a task, or what it failed by. */
export const troubleOutput = z.object({
  kind: z.string(),
  since: z.string(),
  resumes_at: z.string().optional(),
});

export function troubleView({ trouble }: TaskRecord): { trouble?: z.input<typeof troubleOutput> } {
  if (trouble === null || trouble === undefined) return {};
  const { kind, since, resumes_at } = trouble;
  return { trouble: { kind, since, ...(resumes_at !== null && { resumes_at }) } };
}

/** What several replies say of a task besides. */
export function progressOf({ reason, activity, elapsed_seconds }: TaskRecord) {
  return { elapsed_seconds: Math.floor(elapsed_seconds), reason, activity };
}

export function lastOutputOf(record: TaskRecord): string {
  return tailChars(record.last_output, LAST_OUTPUT_CHARS);
}

/** True where the work is done: the task has ended, or its session waits for the next message. */
export function isOver(record: TaskRecord): boolean {
  if (isFinal(record.status)) return true;
  return (
    record.status === 'waiting' &&
    openDecisions(record).length === 0 &&
    record.reason.endsWith(WAITS_FOR_MESSAGE)
  );
}

/** The folder of a task's own git worktree, as long as there is one. */
export function worktreeOf({ worktree }: TaskRecord): { worktree?: string } {
  return worktree === undefined || worktree.finished !== undefined ? {} : { worktree: worktree.path };
}
