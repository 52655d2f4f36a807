// Pure: the location of the git worktrees of tasks.
import { basename, join } from 'node:path';

/**
 * Inside the project folder, like Claude Code's own worktrees, so that they are in the allowed roots and on the same disk. A
 * `.gitignore` in the folder hides it from git.
 */
export const WORKTREES_FOLDER = join('.claude', 'worktrees');

/**
 * Top folder of the worktree that contains a real path; undefined when there is none. Two paths with different results are
 * different projects, even if one contains the other: a task in a worktree and a task in the original project do not touch
 * each other's files.
 */
export function worktreeOf(path: string): string | undefined {
  return /^(.*\/\.claude\/worktrees\/task_[0-9a-f]+)(?:\/|$)/s.exec(path)?.[1];
}

/** The task whose worktree contains a real path: its folder has the id of the task. Another task may have gone on in it. */
export function worktreeTask(path: string): string | undefined {
  const top = worktreeOf(path);
  return top === undefined ? undefined : basename(top);
}
