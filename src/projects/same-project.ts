// Pure: whether two paths count as one project.
import { sep } from 'node:path';
import { worktreeOf } from './worktree-path.js';

/**
 * True when tasks in these two real paths would work on the same files: the folders are equal, or one contains the other. A
 * task's git worktree and its original project are different projects.
 */
export function isSameProject(a: string, b: string): boolean {
  return worktreeOf(a) === worktreeOf(b) && (isInside(a, b) || isInside(b, a));
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}
