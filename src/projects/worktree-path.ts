// Pure: the location of the git worktrees of tasks.
import { basename, join } from 'node:path';
import { isWithin } from './path-in-project.js';

/**
 * Inside the project folder, like Claude Code's own worktrees, so that they are in the allowed roots and on the same disk. A
 * `.gitignore` in the folder hides it from git.
 */
export const WORKTREES_FOLDER = join('.claude', 'worktrees');

/** Top folder of the worktree that contains a real path; undefined when there is none. */
export function worktreeOf(path: string): string | undefined {
  return /^(.*\/\.claude\/worktrees\/task_[0-9a-f]+)(?:\/|$)/s.exec(path)?.[1];
}

/** The task whose worktree contains a real path: its folder has the id of the task. Another task may have gone on in it. */
export function worktreeTask(path: string): string | undefined {
  const top = worktreeOf(path);
  return top === undefined ? undefined : basename(top);
}

/**
 * True when tasks in these two real paths would work on the same files: the folders are equal, or one contains the other. A
 * task's git worktree and its original project are different projects.
 */
export function isSameProject(a: string, b: string): boolean {
  return worktreeOf(a) === worktreeOf(b) && (isWithin(a, b) || isWithin(b, a));
}
