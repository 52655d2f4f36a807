// Pure: the values of the board of another machine: which keys there are, and what each may hold. They are foreign.
import { z } from 'zod';
import { DECISION_ID_PATTERN, idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { checkRunSchema } from '../../checks/result.js';
import { timeHere } from '../../machines/far-records.js';
import type { Machine } from '../../machines/machine.js';
import { decisionSchema, editSchema, taskRecordSchema } from '../../tasks/task.js';
import { worktreeSchema } from '../../tasks/worktree-maker.js';
import { reviewComment } from '../protocol.js';
import type { ReviewComment, TerminalState } from '../protocol.js';
import type { CheckRows, DecisionView, DiffFile, TaskCard } from '../state.js';

const text = z.string();
const count = z.number();

/** Whose values they are. */
export type FarPlace = Pick<Machine, 'name' | 'clockOffsetMs'>;

/** By the kind of a channel: what its keys look like, and their values. Ids get the name of the machine, times are of this clock. */
export function foreignSchemas(machine: FarPlace) {
  const time = z.iso.datetime().transform((at) => timeHere(machine, at));
  const taskId = text.regex(TASK_ID_PATTERN).transform((id) => idOn(machine.name, id));
  const card = cardSchema(taskId, time);
  const decision = viewSchema(taskId, time);
  const event = z.looseObject({ seq: z.int(), at: text, type: text });
  return {
    board: [
      [/^task\/(task_\w{20})$/, card],
      [/^decision\/(task_\w{20})\/dec_\d{1,9}$/, decision],
      [/^unreadable\/(task_\w{20})$/, text],
    ],
    task: [
      [/^task$/, card.nullable()],
      [/^(?:prompt|brief|final_message)$/, text],
      [/^checks$/, checksSchema.nullable()],
      [/^receipt$/, z.looseObject({}).nullable()],
      [/^earlier_events$/, count],
      [/^decision\/dec_\d{1,9}$/, decision],
      [/^event\/\d{1,9}$/, event],
    ],
    diff: [
      [/^(?:why|tree)$/, text.nullable()],
      [/^notes$/, z.array(text)],
      [/^file\/\d{1,6}$/, fileSchema],
      [/^comment\/\d{1,6}$/, commentSchema],
    ],
    term: [[/^terminal$/, terminalSchema]],
  } as const satisfies Record<string, readonly (readonly [RegExp, z.ZodType])[]>;
}

function cardSchema(taskId: z.ZodType<string>, time: z.ZodType<string>): z.ZodType<TaskCard> {
  const { status, driver, permission_mode } = taskRecordSchema.shape;
  const finished = worktreeSchema.shape.finished.unwrap();
  return z.object({
    ...{ task_id: taskId, status: status.unwrap(), driver, permission_mode },
    ...{ created_at: time, started_at: time.nullable(), ended_at: time.nullable() },
    ...{ reason: text, activity: text, project_path: text, prompt_summary: text, last_words: text },
    ...{ used: text, checks_met: text, model: text.nullable(), branch: text.nullable() },
    ...{ unmet: text.nullable(), checked_tree: text.nullable(), queue_position: count.nullable() },
    ...{ elapsed_seconds: count, turns: count, files_changed: count },
    ...{ is_final: z.boolean(), is_held_up: z.boolean(), can_continue: z.boolean(), is_ready: z.boolean() },
    worktree_end: z
      .union([finished, z.object({ action: z.literal('undo'), at: text, result: z.literal('') })])
      .nullable(),
  });
}

function viewSchema(taskId: z.ZodType<string>, time: z.ZodType<string>): z.ZodType<DecisionView> {
  const { kind, input, verdict: answer } = decisionSchema.shape;
  const closed = z.object({
    ...{ verdict: answer.unwrap(), by: text, reason: text.nullable(), at: text },
    edits: z.array(editSchema),
  });
  const option = z.object({ label: text, description: text.nullable() });
  return z.object({
    ...{ task_id: taskId, decision_id: text.regex(DECISION_ID_PATTERN), kind, input },
    ...{ asked_at: time, expires_at: time, closed: closed.nullable() },
    ...{ tool: text, summary: text, asks: text, otherwise: text, cut: text.nullable(), why: text.nullable() },
    ...{ input_is_cut: z.boolean(), can_edit: z.boolean(), is_left: z.boolean() },
    input_sha256: text.regex(/^[0-9a-f]{64}$/),
    choices: z.array(
      z.object({
        label: text,
        key: z.enum(['y', 's', 'n']),
        answer: z.enum(['allow', 'allow_session', 'deny']),
      }),
    ),
    questions: z.array(
      z.object({ question: text, header: text, multi_select: z.boolean(), options: z.array(option) }),
    ),
  });
}

const checksSchema: z.ZodType<CheckRows> = checkRunSchema.extend({ summary: text, notes: z.array(text) });

const fileSchema: z.ZodType<DiffFile> = z.object({
  ...{ path: text, old_path: text.exactOptional(), mode: text.exactOptional(), hunks: text },
  change: z.enum(['created', 'changed', 'deleted', 'renamed']),
  ...{ is_misread: z.boolean().exactOptional(), is_binary: z.boolean(), is_cut: z.boolean() },
  ...{ insertions: count, deletions: count },
});

const commentSchema: z.ZodType<ReviewComment> = reviewComment.extend({ comment_id: text });

const terminalSchema: z.ZodType<TerminalState> = z.object({
  stream: z.int().positive(),
  ...{ columns: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) },
  ...{ writer: text.max(100).nullable(), closed: text.nullable() },
});
