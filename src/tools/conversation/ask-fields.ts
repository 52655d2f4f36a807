// Pure.
import { z } from 'zod';
import { textPage } from '../../base/input.js';
import { BridgeError } from '../../base/errors.js';
import { tailChars } from '../../base/text.js';
import { responseOf, statusOfAsk } from '../../conversations/conversation-manager.js';
import { permissionModeSchema, type TaskRecord } from '../../tasks/task.js';
import { decisionsOutput, taskView } from '../tasks/task-fields.js';

/** Of an answer, in one reply; the rest comes with `cursor`. */
const TEXT_BYTES = 12_000;
/** The end of what Claude Code wrote when it gave no answer. */
const ERROR_CHARS = 2_000;
const MAX_TIMEOUT_SECONDS = 14_400;

export const questionInput = {
  prompt: z.string().describe('The question'),
  previousResponseId: z.string().optional().describe('Continue after this answer, or any earlier one'),
  workingDirectory: z
    .string()
    .optional()
    .describe('Default: that of the previous response, else the active project'),
  model: z.string().min(1).optional(),
  permissionMode: permissionModeSchema.optional().describe('Default: auto, or as set'),
  timeoutSeconds: z.int().min(1).max(MAX_TIMEOUT_SECONDS).optional(),
  maxCostUsd: z.number().min(0.01).optional(),
  maxTokens: z.int().min(1).optional(),
};

/** Of ask_async, or of an ask that took too long. */
export const askIdInput = z.string().describe('taskId of ask or ask_async');

export const askOutput = {
  text: z.string().optional(),
  responseId: z.string().optional(),
  /** Where the rest of a long answer begins, for ask_status. */
  cursor: z.string().optional(),
  taskId: z.string(),
  status: z.string(),
  activity: z.string().optional(),
  elapsedSeconds: z.int(),
  decisions: decisionsOutput.optional(),
  error: z.string().optional(),
  exitCode: z.int().nullable().optional(),
  /** What is in its way, or what it failed by. */
  trouble: z.object({ kind: z.string(), resumes_at: z.string().optional() }).optional(),
  hint: z.string().optional(),
};

type AskView = z.input<z.ZodObject<typeof askOutput>>;

/** A question as its caller sees it: its answer from `cursor` on, or what it is doing, or why there is none. Throws INVALID_ARGUMENTS. */
export function askView(record: TaskRecord, cursor = '0'): AskView {
  const { decisions } = taskView(record);
  const shown = {
    taskId: record.task_id,
    status: statusOfAsk(record),
    elapsedSeconds: Math.floor(record.elapsed_seconds),
    ...troubleView(record),
  };
  const responseId = responseOf(record);
  if (responseId !== undefined)
    return { ...textPage(record.final_message, cursor, TEXT_BYTES), responseId, ...shown };
  if (record.ended_at !== null) return { ...shown, error: whyNoAnswer(record), exitCode: record.exit_code };
  return {
    ...shown,
    activity: record.activity,
    ...(decisions.length > 0 && { decisions }),
    hint:
      decisions.length > 0
        ? `It waits for a decision: answer with respond_to_task (task_id ${record.task_id}), then call ask_status.`
        : 'Not answered yet; it goes on in the background. Call ask_status with its taskId for the answer.',
  };
}

/** Throws ASK_FAILED when the question has ended without an answer. */
export function mustHaveAnswer(record: TaskRecord): TaskRecord {
  if (record.ended_at === null || responseOf(record) !== undefined) return record;
  throw new BridgeError(
    'ASK_FAILED',
    `Claude Code gave no answer (${record.status}, exit code ${record.exit_code ?? 'none'}): ${whyNoAnswer(record)}`,
    `See ask_status for ${record.task_id}, or its log: ${record.log_file}.`,
    { data: troubleData(record) },
  );
}

/** For programs that retry. */
function troubleData(record: TaskRecord): Readonly<Record<string, string>> {
  const { trouble } = troubleView(record);
  if (trouble === undefined) return {};
  const { kind, resumes_at } = trouble;
  return { trouble: kind, ...(resumes_at !== undefined && { resumes_at }) };
}

function troubleView({ trouble }: TaskRecord): { trouble?: { kind: string; resumes_at?: string } } {
  if (trouble === null || trouble === undefined) return {};
  const { kind, resumes_at } = trouble;
  return { trouble: { kind, ...(resumes_at !== null && { resumes_at }) } };
}

/** The bridge's words, and those of Claude Code as it wrote them. */
function whyNoAnswer({ reason, last_output }: TaskRecord): string {
  const said = tailChars(last_output.trim(), ERROR_CHARS);
  return said === '' || reason.includes(said) ? reason : `${reason}\n${said}`;
}
