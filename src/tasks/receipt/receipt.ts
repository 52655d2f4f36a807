// Pure: what a receipt holds, and as much of it as an answer may hold.
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { headBytes } from '../../base/text.js';
import { printedSchema, printedText, shorter } from '../../claude/command-outcome.js';
import { gitChangesSchema } from '../../git/state/snapshot-schema.js';
import { runsLater } from '../../projects/live-names.js';
import { isSecret } from '../../projects/secret-names.js';
import { editSchema, taskIdSchema, taskStatusSchema, type TaskRecord } from '../task.js';

/** Sensitive files that are named. */
const MAX_SENSITIVE = 200;
/** How much of each list is shown at first; halved until all fits. */
const MOST_ITEMS = 100;
const MESSAGE_BYTES = 6_000;
const SMALLEST_MESSAGE_BYTES = 1_000;
/** What a command printed that failed, and one that did not. */
const FAILED_OUTPUT_CHARS = 600;
const OUTPUT_CHARS = 200;

/** What git saw between the start and the end. */
const gitReportSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('none'), why: z.string() }),
  z.object({ state: z.literal('unknown'), why: z.string() }),
  gitChangesSchema.extend({
    state: z.literal('repository'),
    repository: z.string(),
    /** Ignored files, new or changed, that hold secrets or instruct by their names; relative to the repository. */
    ignored: z.array(z.string()),
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

/** `tasks/<task_id>/receipt.json`: what a task did, as far as it was seen. Lists are bounded, their totals are not. */
export const receiptSchema = z.object({
  version: z.literal(1),
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
  usage: z.object({
    /** `result`: the CLI's own sums; `transcript`: added up from its transcript. */
    source: z.enum(['result', 'transcript', 'unknown']),
    models: z.array(
      z.object({
        model: z.string(),
        input: z.int(),
        output: z.int(),
        cache_read: z.int(),
        cache_write: z.int(),
      }),
    ),
    /** Only as the CLI reports it; there is no price list here. */
    cost_usd: z.union([z.number(), z.literal('unknown')]),
  }),
  /** `none`: nothing told of commands. */
  commands_source: z.enum(['journal', 'none']),
  commands: z.array(
    z.object({
      command: z.string(),
      exit_code: z.int().nullable(),
      /** Why there is no exit code. */
      note: z.string().optional(),
      ...printedSchema.partial().shape,
    }),
  ),
  commands_total: z.int(),
  commands_failed: z.int(),
  /** Paths are relative to the project; absolute for a file outside of it. */
  files: z.array(z.object({ path: z.string(), change: z.enum(['created', 'changed']) })),
  files_total: z.int(),
  /** Among `files` and those of `git`, by their names: a person should review them. */
  sensitive_files: z.array(
    z.object({ path: z.string(), why: z.enum(['holds secrets by its name', 'runs or instructs later']) }),
  ),
  git: gitReportSchema,
  decisions: z.array(
    z.object({
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
    }),
  ),
  denials: z.array(z.object({ summary: z.string(), by: z.string(), reason: z.string() })),
  denials_total: z.int(),
});
export type Receipt = z.infer<typeof receiptSchema>;
export type CommandRun = Receipt['commands'][number];
export type SeenFile = Receipt['files'][number];

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
  // New files stay.
  const isTakenBack =
    git.files.some(({ change }) => change !== 'created') || git.files_total > git.files.length;
  return isTakenBack && git.start_tree !== undefined && git.tree !== undefined && git.start_tree !== git.tree;
}

/**
 * Files by the two lists of names, each once; at most 200. `files`: what tools wrote. Plans that Claude Code wrote into `configDir`, its
 * own folder, are left out.
 */
export function sensitiveFiles(
  projectPath: string,
  files: readonly SeenFile[],
  git: GitReport,
  configDir?: string,
): Receipt['sensitive_files'] {
  const written = files.map(({ path }) => resolve(projectPath, path));
  const paths = git.state === 'repository' ? [...git.files.map(({ path }) => path), ...git.ignored] : [];
  const seen = git.state === 'repository' ? paths.map((path) => resolve(git.repository, path)) : [];
  return [...new Set([...written, ...seen])]
    .flatMap((path): Receipt['sensitive_files'] => {
      const isPlan = configDir !== undefined && dirname(path) === join(configDir, 'plans');
      if (isPlan && path.endsWith('.md')) return [];
      const shown = pathFromProject(path, projectPath);
      if (isSecret(path, projectPath)) return [{ path: shown, why: 'holds secrets by its name' }];
      if (runsLater(path, projectPath)) return [{ path: shown, why: 'runs or instructs later' }];
      return [];
    })
    .slice(0, MAX_SENSITIVE);
}

/** Relative to the project; as it is when it is outside. */
export function pathFromProject(path: string, projectPath: string): string {
  if (!isAbsolute(path)) return path;
  const inside = relative(projectPath, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? path : inside;
}

export interface ReceiptView {
  readonly receipt: Omit<Receipt, 'version' | 'task_id' | 'status'>;
  /** How many items of each list are left out; bytes for the final message. */
  readonly left_out: Readonly<Record<string, number>>;
}

/** The receipt within `maxBytes` of JSON: whole, or with its lists cut. What was done last, and what went wrong, stays longest. */
export function receiptView(receipt: Receipt, maxBytes: number): ReceiptView {
  for (let items = MOST_ITEMS; ; items = Math.floor(items / 2)) {
    const view = cut(receipt, items, Math.max(SMALLEST_MESSAGE_BYTES, (MESSAGE_BYTES * items) / MOST_ITEMS));
    if (items === 0 || Buffer.byteLength(JSON.stringify(view)) <= maxBytes) return view;
  }
}

function cut(receipt: Receipt, items: number, messageBytes: number): ReceiptView {
  const { version: _version, task_id: _id, status: _status, ...all } = receipt;
  const left: Record<string, number> = {};
  const some = <T>(name: string, list: readonly T[], total = list.length): T[] => {
    const kept = name === 'commands' ? list.slice(Math.max(0, list.length - items)) : list.slice(0, items);
    if (kept.length < total) left[name] = total - kept.length;
    return kept;
  };
  // What a rule allowed is the least news.
  const isRoutine = (one: Receipt['decisions'][number]): boolean =>
    one.answered_by === 'rule' && one.verdict === 'allow';
  const decisions = all.decisions.toSorted((one, other) => Number(isRoutine(one)) - Number(isRoutine(other)));
  const final_message = headBytes(all.final_message, messageBytes);
  if (final_message !== all.final_message)
    left['final_message_bytes'] = Buffer.byteLength(all.final_message) - Buffer.byteLength(final_message);
  const shown = {
    ...all,
    final_message,
    commands: some('commands', all.commands, all.commands_total).map(withLittleOutput),
    files: some('files', all.files, all.files_total),
    sensitive_files: some('sensitive_files', all.sensitive_files),
    decisions: some('decisions', decisions),
    denials: some('denials', all.denials, all.denials_total),
  };
  const { git } = all;
  if (git.state !== 'repository') return { receipt: shown, left_out: left };
  const { count, untouched, changed, committed } = git.dirty_before;
  const shownGit = {
    ...git,
    commits: some('commits', git.commits, git.commits_total),
    files: some('git_files', git.files, git.files_total),
    ignored: some('ignored', git.ignored),
    dirty_before: {
      count,
      untouched: some('untouched', untouched),
      changed: some('changed_further', changed),
      committed: some('committed', committed),
    },
  };
  return { receipt: { ...shown, git: shownGit }, left_out: left };
}

function withLittleOutput({ output, left_out, kept, ...run }: CommandRun): CommandRun {
  if (output === undefined) return run;
  const chars = run.exit_code === 0 ? OUTPUT_CHARS : FAILED_OUTPUT_CHARS;
  return { ...run, output: printedText(shorter({ output, left_out, kept }, chars)) };
}
