// Pure: which projects are one to a task.
import { sep } from 'node:path';
import { worktreeOf } from './worktree-path.js';

/**
 * True when a task in one of these real paths would work on the files of a task in the other: they are the same folder, or
 * one lies in the other. A git worktree of a task and the project that it was made from are two.
 */
export function isSameProject(a: string, b: string): boolean {
  return worktreeOf(a) === worktreeOf(b) && (liesIn(a, b) || liesIn(b, a));
}

function liesIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}
