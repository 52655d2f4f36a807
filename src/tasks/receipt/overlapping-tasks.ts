import { readJsonFile } from '../../base/files/json-file.js';
import { ignoreBridgeError } from '../../base/ignore-bridge-error.js';
import type { StateDir } from '../../store/state-dir.js';
import { taskRecordSchema, type TaskRecord } from '../task.js';

/** Number of the newest tasks that are checked: one that overlapped is hardly older. */
const MAX_LOOKED_AT = 50;
/** Enough to know whom to ask. */
const MAX_NAMED = 5;

/**
 * Ids of tasks and questions that ran in the same repository while `record` did, the newest first: what git saw may be theirs.
 * Throws what reading the state directory throws.
 */
export async function overlappingTasks(
  record: TaskRecord,
  repository: string,
  stateDir: Pick<StateDir, 'listTaskIds' | 'recordFile'>,
): Promise<string[]> {
  const found: string[] = [];
  for (const id of (await stateDir.listTaskIds()).slice(0, MAX_LOOKED_AT)) {
    if (id === record.task_id) continue;
    // One that cannot be read does not hide the others.
    const file = await readJsonFile(stateDir.recordFile(id), taskRecordSchema).catch(ignoreBridgeError);
    if (file?.state !== 'ok') continue;
    const other = file.value;
    if (worksIn(other, repository) && overlaps(record, other)) found.push(id);
    if (found.length === MAX_NAMED) break;
  }
  return found;
}

function worksIn({ project_path, worktree }: TaskRecord, repository: string): boolean {
  const isBelow = (path: string): boolean => path === repository || path.startsWith(`${repository}/`);
  // A worktree is a folder of its own, and its commits are the repository's.
  return isBelow(project_path) || (worktree !== undefined && isBelow(worktree.project_path));
}

function overlaps(one: TaskRecord, other: TaskRecord): boolean {
  // One that never ran changed nothing.
  if (other.started_at === null) return false;
  const hasBegun = one.ended_at === null || other.started_at < one.ended_at;
  return hasBegun && (other.ended_at === null || other.ended_at > (one.started_at ?? one.created_at));
}
