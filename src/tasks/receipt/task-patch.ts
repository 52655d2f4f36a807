// Pure.
import { BridgeError } from '../../base/errors.js';
import type { FilesPatchQuery } from '../../git/diff/files-patch.js';
import { undoneWords } from '../polling-hint.js';
import { isNative, type TaskRecord } from '../task.js';
import type { GitReport } from './receipt.js';

/** Which patch of git shows what a task changed. */
export type TaskPatch = (
  | { readonly state: 'nothing'; readonly why: string }
  | { readonly state: 'patch'; readonly query: FilesPatchQuery; readonly notes: readonly string[] }
) & {
  /** What `finish_task` takes as reviewed: the tree that the patch ends with, or that holds no change. */
  readonly tree?: string | undefined;
};

const NOTHING = 'The task changed nothing that git sees.';
const SHARED = 'In a shared folder this is all that changed since the task began, whoever did it.';

/** Throws NOT_A_REPOSITORY where git saw nothing of the task. `reportOf` is what git sees of its work, `objects` the folder of its kept trees. */
export async function taskPatch(
  record: TaskRecord,
  reportOf: (record: TaskRecord) => Promise<GitReport>,
  objects: string,
): Promise<TaskPatch> {
  const { task_id, worktree, undone_at } = record;
  if (worktree?.finished !== undefined) {
    const { result, tree } = worktree.finished;
    if (result === '') return { state: 'nothing', why: 'The task changed nothing.' };
    // A commit that merges also has what others did.
    const query = { repository: worktree.repository, base: worktree.base_commit, end: tree ?? result };
    return { state: 'patch', query, notes: [] };
  }
  if (record.keeper === null && !isNative(record))
    return { state: 'nothing', why: 'The task was not started, so it has changed nothing.' };
  const report = await reportOf(record);
  if (report.state !== 'repository') {
    throw new BridgeError(
      'NOT_A_REPOSITORY',
      isNative(record) ? report.why : `git saw nothing of what ${task_id} changed: ${report.why}`,
      'Make a repository before the next task (`git init`): without one there is no diff, no undo and no clean copy.',
    );
  }
  if (worktree === undefined)
    return sharedPatch(report, objects, undone_at === undefined ? [] : [undoneWords(record).trim()]);
  const { files, repository, head_before: base, tree } = report;
  if (files.length === 0) return { state: 'nothing', why: NOTHING, tree };
  if (tree !== undefined) return { state: 'patch', query: { repository, base, end: tree }, notes: [], tree };
  // It runs.
  return { state: 'patch', query: { repository, base, files: files.map(({ path }) => path) }, notes: [] };
}

/** From its files when the task began, where they were kept, to those at its end, or while it runs to those on the disk. */
function sharedPatch(
  report: Extract<GitReport, { readonly state: 'repository' }>,
  objects: string,
  more: readonly string[],
): TaskPatch {
  const { files, files_total, dirty_before, repository, head_before, head_after, uncommitted } = report;
  const { start_tree, tree } = report;
  const base = start_tree ?? head_before;
  if (start_tree !== undefined && tree !== undefined && tree !== start_tree)
    return {
      state: 'patch',
      query: { repository, base, end: tree, objects },
      notes: [SHARED, ...more],
      tree,
    };
  if (files.length === 0 || tree !== undefined) return { state: 'nothing', why: NOTHING };
  const notes = [
    SHARED,
    files_total > files.length && `${files_total - files.length} more files are not shown.`,
    dirty_before.changed.length > 0 &&
      start_tree === undefined &&
      'Files that had uncommitted changes before the task are shown with these changes.',
    ...more,
  ];
  return {
    state: 'patch',
    query: {
      repository,
      base,
      files: files.map(({ path }) => path),
      ...(start_tree !== undefined && { objects }),
      // What is committed does not change with the working tree.
      ...(uncommitted === 0 && head_after !== null && { end: head_after }),
    },
    notes: notes.filter((note) => note !== false),
  };
}
