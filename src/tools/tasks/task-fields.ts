// Pure.
import { z } from 'zod';
import { countOf, headBytes, oneLine, tailChars } from '../../base/text.js';
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
  const isCut = missing > 0 || decision.input_is_cut === true;
  return { request, ...(isCut && { cut: cutWords(missing, decision.input_is_cut === true, taskId) }) };
}

function cutWords(missing: number, isKeptCut: boolean, taskId: string): string {
  const more = missing > 0 ? `${countOf(missing)} characters more: read tasks://${taskId}` : '';
  if (!isKeptCut) return more;
  const rest =
    'the request is longer than the bridge keeps, and its end is shown nowhere: deny it, or have a person look at the terminal (attach)';
  return more === '' ? rest : `${more}; ${rest}`;
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
