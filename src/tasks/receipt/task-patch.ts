// Pure.
import { BridgeError } from '../../base/errors.js';
import type { FilesPatchQuery } from '../../git/diff/files-patch.js';
import { isNative, type TaskRecord } from '../task.js';
import type { GitReport } from './receipt.js';

/** Which patch of git shows what a task changed. */
export type TaskPatch = (
  | { readonly state: 'nothing'; readonly why: string }
  | { readonly state: 'patch'; readonly query: FilesPatchQuery; readonly notes: readonly string[] }
) & {
  /** Of a worktree: the tree that the patch ends with, or that holds no change. */
  readonly tree?: string | undefined;
};

/** Throws NOT_A_REPOSITORY where git saw nothing of the task. `reportOf` is what git sees of its work. */
export async function taskPatch(
  record: TaskRecord,
  reportOf: (record: TaskRecord) => Promise<GitReport>,
): Promise<TaskPatch> {
  const { worktree } = record;
  if (worktree?.finished !== undefined) {
    const { result, tree } = worktree.finished;
    if (result === '') return { state: 'nothing', why: 'The task changed nothing.' };
    // A commit that merges also has what others did.
    const query = { repository: worktree.repository, base: worktree.base_commit, end: tree ?? result };
    return { state: 'patch', query, notes: [] };
  }
  const report = await reportOf(record);
  if (report.state !== 'repository') {
    const message = isNative(record)
      ? report.why
      : `git saw nothing of what ${record.task_id} changed: ${report.why}`;
    throw new BridgeError(
      'NOT_A_REPOSITORY',
      message,
      'The receipt (tasks show) lists the files that it wrote.',
    );
  }
  return patchOf(report);
}

function patchOf(report: Extract<GitReport, { readonly state: 'repository' }>): TaskPatch {
  const { files, files_total, dirty_before, repository, head_before, head_after, uncommitted, tree } = report;
  if (files.length === 0) return { state: 'nothing', why: 'The task changed nothing that git sees.', tree };
  if (tree !== undefined)
    return { state: 'patch', query: { repository, base: head_before, end: tree }, notes: [], tree };
  const notes: string[] = [];
  if (files_total > files.length) notes.push(`${files_total - files.length} more files are not shown.`);
  if (dirty_before.changed.length > 0)
    notes.push('Files that had uncommitted changes before the task are shown with these changes.');
  return {
    state: 'patch',
    query: {
      repository,
      base: head_before,
      files: files.map(({ path }) => path),
      // What is committed does not change with the working tree.
      ...(uncommitted === 0 && head_after !== null && { end: head_after }),
    },
    notes,
  };
}
