import { join, relative } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { oneLine, someNames } from '../../base/text.js';
import type { ProjectSnapshots } from '../../git/state/project-snapshots.js';
import { projectStateSchema, type ProjectState } from '../../git/state/snapshot-schema.js';
import type { StateDir } from '../../store/state-dir.js';
import type { GitReport } from './receipt.js';
import type { Worktree } from '../worktree-maker.js';
import { isFinal, isNative, type TaskRecord } from '../task.js';

/** A repository that takes longer than this at the start gets no first snapshot. */
const BEFORE_LIMIT_MS = 10_000;
const AFTER_LIMIT_MS = 20_000;
const WHY_CHARS = 300;
/** What the bridge itself writes into projects. */
const OWN_FILES = /(?:^|\/)\.claude\/(?:mcp-logs\/|worktrees\/\.gitignore$)/;
const SHARED =
  'In a shared folder these are the commits and changes that are new since the task began, whoever made them.';
const OF_PERSON = 'Sessions of people are not compared with git.';

const unknownSchema = z.object({ state: z.literal('unknown'), why: z.string() });
const UNSEEN = { state: 'unknown', why: 'It was not read when the task began.' } as const;

/** `tasks/<task_id>/git-before.json`: how the repository stood when the task began. */
const beforeSchema = z.object({
  taken_at: z.string(),
  found: z.discriminatedUnion('state', [
    projectStateSchema.extend({ state: z.literal('repository') }),
    z.object({ state: z.literal('none'), why: z.string() }),
    unknownSchema,
  ]),
});

/** Reads the repository of a project without running what it names. */
export type ProjectLooker = Pick<ProjectSnapshots, 'before' | 'after'>;

export interface ReceiptGitParts {
  readonly stateDir: StateDir;
  /** Loaded when it is first needed: no start waits for it. */
  readonly looker: () => Promise<ProjectLooker>;
}

/** The files of a shared folder when the task began, as a tree in `treesOf`; undefined where they were not kept. */
export async function startTreeOf(stateDir: StateDir, taskId: string): Promise<string | undefined> {
  const file = await readJsonFile(beforeFile(stateDir, taskId), beforeSchema).catch(() => undefined);
  return file?.state === 'ok' && file.value.found.state === 'repository' ? file.value.found.tree : undefined;
}

/** The folder of the trees of a task. */
export function treesOf(stateDir: StateDir, taskId: string): string {
  return join(stateDir.taskDir(taskId), 'objects');
}

/**
 * Takes the first snapshot of a task's project, within 10 s; of a shared folder with its files. It is on disk, so that it outlives the
 * keeper. Never rejects: what it could not read is recorded as unknown.
 */
export async function lookBefore(
  parts: ReceiptGitParts,
  { task_id, project_path, worktree }: Pick<TaskRecord, 'task_id' | 'project_path' | 'worktree'>,
): Promise<void> {
  const taken_at = new Date().toISOString();
  const trees = worktree === undefined ? treesOf(parts.stateDir, task_id) : undefined;
  const seen = await within(BEFORE_LIMIT_MS, parts, (looker, signal) =>
    looker.before(project_path, signal, trees),
  );
  const found = seen.state === 'unknown' ? { ...seen, why: `Before the task began: ${seen.why}` } : seen;
  // Not durable: after a crash of the machine the receipt says that the first snapshot is missing.
  const before: z.infer<typeof beforeSchema> = { taken_at, found };
  await writeJsonFileAtomically(fileOf(parts, task_id), before, { durable: false }).catch(() => {
    // A full disk is reported by every required write; without this file the receipt says that the first snapshot is missing.
  });
}

/** The second snapshot, and the differences. `isEnd`: just when the task has ended. Never rejects. */
export async function gitReport(
  parts: ReceiptGitParts,
  record: TaskRecord,
  isEnd = false,
): Promise<GitReport> {
  if (isNative(record)) return { state: 'unknown', why: OF_PERSON };
  const { task_id, status, project_path, created_at, ended_at } = record;
  const file = await readJsonFile(fileOf(parts, task_id), beforeSchema).catch(() => undefined);
  const { found, taken_at } = file?.state === 'ok' ? file.value : { found: UNSEEN, taken_at: created_at };
  const worktree = record.worktree?.finished === undefined ? record.worktree : undefined;
  if (found.state === 'unknown' && worktree === undefined) return found;
  const seen = found.state === 'repository' ? found : undefined;
  const first = worktree === undefined ? seen : beginningOf(worktree, seen);
  const look = {
    before: first,
    sinceMs: Date.parse(taken_at),
    isWorktree: worktree !== undefined && isFinal(status),
    objects: isEnd && record.worktree === undefined ? treesOf(parts.stateDir, task_id) : undefined,
  };
  // All of a worktree is brought home, also where the project is a folder of it.
  const path = worktree?.path ?? project_path;
  const after = await within(AFTER_LIMIT_MS, parts, (looker, signal) => looker.after(path, look, signal));
  if (after.state === 'none' && first === undefined) return after;
  if (after.state !== 'repository') return { state: 'unknown', why: after.why };
  const { branch, head, ignored, doubts, filtered, ...changes } = after;
  const repository = first?.repository ?? project_path;
  const isShared = record.worktree === undefined && changes.files_total + changes.commits_total > 0;
  const late = `They were read at ${new Date().toISOString()}, and not when the task ended (${ended_at}): what came between is among them.`;
  const sharing = isEnd || !isFinal(status) ? [SHARED] : [SHARED, late];
  return {
    ...changes,
    repository,
    ignored: ignored.map((name) => relative(repository, name)).filter((name) => !OWN_FILES.test(name)),
    notes: [...notesOf(first, filtered), ...(isShared ? sharing : []), ...doubts],
    ...(first?.tree !== undefined && { start_tree: first.tree }),
    branch_before: first?.branch ?? null,
    branch_after: branch,
    head_before: first?.head ?? null,
    head_after: head,
  };
}

function fileOf({ stateDir }: ReceiptGitParts, taskId: string): string {
  return beforeFile(stateDir, taskId);
}

function beforeFile(stateDir: StateDir, taskId: string): string {
  return join(stateDir.taskDir(taskId), 'git-before.json');
}

async function within<T>(
  limitMs: number,
  { looker }: ReceiptGitParts,
  look: (looker: ProjectLooker, signal: AbortSignal) => Promise<T>,
): Promise<T | z.infer<typeof unknownSchema>> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    return await look(await looker(), signal);
  } catch (error) {
    if (signal.aborted)
      return { state: 'unknown', why: `git could not be read within ${limitMs / 1_000} seconds.` };
    const next = error instanceof BridgeError && error.code === 'GIT_NOT_FOUND' ? ` ${error.hint}` : '';
    return { state: 'unknown', why: oneLine(`${messageOf(error)}${next}`, WHY_CHARS) };
  }
}

/** A worktree begins at its commit with nothing changed: that is known, also where the first look came late or not at all. */
function beginningOf(worktree: Worktree, seen: ProjectState | undefined): ProjectState {
  const { path: repository, branch, base_commit: head, disguises = [] } = worktree;
  const { views, branches } = seen ?? {};
  return { repository, branch, head, branches, dirty: [], dirty_count: 0, disguises, views };
}

function notesOf(first: ProjectState | undefined, filtered: readonly string[]): string[] {
  const { dirty_count = 0, dirty = [] } = first ?? {};
  const notes = [
    first === undefined &&
      'The repository was made during the task: which of its files are new is not known.',
    dirty_count > dirty.length &&
      `Of ${dirty_count} uncommitted files before the task only ${dirty.length} were remembered.`,
    filtered.length > 0 &&
      `Not compared, since git does it through a filter (such as git-lfs) and the bridge runs none: ${someNames(filtered)}.`,
  ];
  return notes.filter((note) => note !== false);
}
