// Pure.
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { textPage } from '../../base/input.js';
import { tailChars } from '../../base/text.js';
import { responseOf, statusOfAsk } from '../../conversations/conversation-manager.js';
import type { TaskRecord } from '../../tasks/task.js';
import { decisionsOutput, taskView, troubleOutput, troubleView } from '../tasks/task-fields.js';

/** Of an answer, in one reply; the rest comes with `cursor`. */
const TEXT_BYTES = 12_000;
/** The end of what Claude Code wrote when it gave no answer. */
const ERROR_CHARS = 2_000;

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
  trouble: troubleOutput.omit({ since: true }).optional(),
  hint: z.string().optional(),
};

type AskView = z.input<z.ZodObject<typeof askOutput>>;

/** A question as its caller sees it: its answer from `cursor` on, or what it is doing, or why there is none. Throws INVALID_ARGUMENTS. */
export function askView(record: TaskRecord, cursor = '0'): AskView {
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
  const { activity } = record;
  const { decisions } = taskView(record);
  if (decisions.length === 0) {
    const hint =
      'Not answered yet; it goes on in the background. Call ask_status with its taskId for the answer.';
    return { ...shown, activity, hint };
  }
  const hint = `It waits for a decision: answer with respond_to_task (task_id ${record.task_id}), then call ask_status.`;
  return { ...shown, activity, decisions, hint };
}

/** Throws ASK_FAILED when the question has ended without an answer; its data are for programs that retry. */
export function mustHaveAnswer(record: TaskRecord): TaskRecord {
  if (record.ended_at === null || responseOf(record) !== undefined) return record;
  const { kind, resumes_at } = troubleView(record).trouble ?? {};
  throw new BridgeError(
    'ASK_FAILED',
    `Claude Code gave no answer (${record.status}, exit code ${record.exit_code ?? 'none'}): ${whyNoAnswer(record)}`,
    `See ask_status for ${record.task_id}, or its log: ${record.log_file}.`,
    {
      data: {
        ...(kind !== undefined && { trouble: kind }),
        ...(resumes_at !== undefined && { resumes_at }),
      },
    },
  );
}

/** The bridge's words, and those of Claude Code as it wrote them. */
function whyNoAnswer({ reason, last_output }: TaskRecord): string {
  const said = tailChars(last_output.trim(), ERROR_CHARS);
  return said === '' || reason.includes(said) ? reason : `${reason}\n${said}`;
}
