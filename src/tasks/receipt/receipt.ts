// Pure.
import { z } from 'zod';
import { printedSchema } from '../../claude/command-outcome.js';
import { gitChangesSchema } from '../../git/state/snapshot-schema.js';
import { editSchema, taskIdSchema, taskStatusSchema, type TaskRecord } from '../task.js';

export const RECEIPT_VERSION = 1;

const commandRunSchema = z.object({
  command: z.string(),
  exit_code: z.int().nullable(),
  /** Why there is no exit code. */
  note: z.string().optional(),
  ...printedSchema.partial().shape,
});
export type CommandRun = z.infer<typeof commandRunSchema>;

const seenFileSchema = z.object({
  /** Relative to the project; absolute for a file outside of it. */
  path: z.string(),
  change: z.enum(['created', 'changed']),
});
export type SeenFile = z.infer<typeof seenFileSchema>;

/** A changed file that a person should review. */
const sensitiveFileSchema = z.object({
  /** Relative to the project; absolute for a file outside of it. */
  path: z.string(),
  why: z.enum(['holds secrets by its name', 'runs or instructs later']),
});
export type SensitiveFile = z.infer<typeof sensitiveFileSchema>;

/** What git saw between the start and the end. */
const gitReportSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('none'), why: z.string() }),
  z.object({ state: z.literal('unknown'), why: z.string() }),
  gitChangesSchema.extend({
    state: z.literal('repository'),
    repository: z.string(),
    /** Ignored files, new or changed, that hold secrets or instruct by their names; relative to the repository. */
    ignored: z.array(z.string()).default([]),
    /** What makes the report less sure, in words. */
    notes: z.array(z.string()),
    /** Of a shared folder: its files when the task began, as a kept tree. */
    start_tree: z.string().optional(),
    branch_before: z.string().nullable(),
    branch_after: z.string().nullable(),
    head_before: z.string().nullable(),
    head_after: z.string().nullable(),
  }),
]);
export type GitReport = z.infer<typeof gitReportSchema>;

const modelTokensSchema = z.object({
  model: z.string(),
  input: z.int(),
  output: z.int(),
  cache_read: z.int(),
  cache_write: z.int(),
});
export type ModelTokens = z.infer<typeof modelTokensSchema>;

const usageReportSchema = z.object({
  /** `result`: the CLI's own sums; `transcript`: added up from its transcript. */
  source: z.enum(['result', 'transcript', 'unknown']),
  models: z.array(modelTokensSchema),
  /** Only as the CLI reports it; there is no price list here. */
  cost_usd: z.union([z.number(), z.literal('unknown')]),
});
export type UsageReport = z.infer<typeof usageReportSchema>;

const answeredDecisionSchema = z.object({
  decision_id: z.string(),
  kind: z.string(),
  summary: z.string(),
  verdict: z.string(),
  answered_by: z.string(),
  reason: z.string(),
  /** Which rule asked, and its reason; of one that a rule answered `reason` says it. */
  why: z.string().optional(),
  /** What was allowed instead of what was asked. */
  edits: z.array(editSchema).optional(),
});
export type AnsweredDecision = z.infer<typeof answeredDecisionSchema>;

const denialSchema = z.object({ summary: z.string(), by: z.string(), reason: z.string() });
export type Denial = z.infer<typeof denialSchema>;

/** `tasks/<task_id>/receipt.json`: what a task did, as far as it was seen. Lists are bounded, their totals are not. */
export const receiptSchema = z.object({
  version: z.literal(RECEIPT_VERSION),
  task_id: taskIdSchema,
  status: taskStatusSchema,
  reason: z.string(),
  /** False when it was made later, from what a keeper that died had written down. */
  complete: z.boolean(),
  notes: z.array(z.string()),
  made_at: z.string(),
  final_message: z.string(),
  turns: z.int(),
  duration_seconds: z.number(),
  exit_code: z.int().nullable(),
  model: z.string().nullable(),
  cli_version: z.string().nullable(),
  usage: usageReportSchema,
  /** `none`: nothing told of commands. Earlier versions wrote `transcript`, too. */
  commands_source: z.enum(['transcript', 'journal', 'none']),
  commands: z.array(commandRunSchema),
  commands_total: z.int(),
  commands_failed: z.int(),
  files: z.array(seenFileSchema),
  files_total: z.int(),
  /** Among `files` and those of `git`; empty in receipts of earlier versions. */
  sensitive_files: z.array(sensitiveFileSchema).default([]),
  git: gitReportSchema,
  decisions: z.array(answeredDecisionSchema),
  denials: z.array(denialSchema),
  denials_total: z.int(),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** The tree of a worktree as git has it now, or of a shared folder at the end; undefined where there is none. */
export function treeOf({ git }: Pick<Receipt, 'git'>): string | undefined {
  return git.state === 'repository' ? git.tree : undefined;
}

/** Whether `finish_task` can take back what changed in the shared folder of a task, and has not done so. */
export function isUndoable(
  { worktree, undone_at }: Pick<TaskRecord, 'worktree' | 'undone_at'>,
  receipt: Pick<Receipt, 'git'> | undefined,
): boolean {
  const git = receipt?.git;
  if (worktree !== undefined || undone_at !== undefined || git?.state !== 'repository') return false;
  return git.start_tree !== undefined && git.tree !== undefined && git.start_tree !== git.tree;
}
