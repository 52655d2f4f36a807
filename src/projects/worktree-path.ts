// Pure: where the git worktrees of tasks lie.
import { join } from 'node:path';

/**
 * In the project's own folder, as Claude Code's own worktrees: so they are in the allowed roots and on the same disk. The
 * folder hides itself from git.
 */
export const WORKTREES_FOLDER = join('.claude', 'worktrees');

/**
 * Top folder of the worktree that a real path lies in; undefined for a path in none. Two paths for which this differs are
 * different projects, also when one is a parent of the other: a task in a worktree and one in the project that it was made
 * from do not touch each other's files.
 */
export function worktreeOf(path: string): string | undefined {
  return /^(.*\/\.claude\/worktrees\/task_[0-9a-f]+)(?:\/|$)/s.exec(path)?.[1];
}
