// Pure.
import { z } from 'zod';
import type { Worktrees } from '../git/worktree/worktrees.js';

/** What becomes of a worktree. */
export const worktreeEndSchema = z.enum(['merge', 'apply', 'discard']);
export type WorktreeEnd = z.infer<typeof worktreeEndSchema>;
/** What was done to a worktree that was finished. */
export const FINISHED: Readonly<Record<WorktreeEnd, string>> = {
  merge: 'merged',
  apply: 'applied',
  discard: 'discarded',
};
/** `undo`: takes back what a task changed in a shared folder. */
export const finishActionSchema = z.enum([...worktreeEndSchema.options, 'undo']);
export type FinishAction = z.infer<typeof finishActionSchema>;

/** The git worktree that a task works in, as its spec and its record hold it. `project_path` of both is a folder of it. */
export const worktreeSchema = z.object({
  /** The folder that `start_task` was given: the task's log is there, and the task's work is brought there. */
  project_path: z.string(),
  /** Top folder of the working tree that the worktree was made from. */
  repository: z.string(),
  /** Top folder of the worktree: `<repository>/.claude/worktrees/<task_id>`. */
  path: z.string(),
  branch: z.string(),
  /** The commit that the task began with. */
  base_commit: z.string(),
  /** What a caller should know of it, such as changes that were not committed and stayed where they are. */
  notes: z.array(z.string()),
  /** The replace refs, grafts and shallow commits that the repository had before. */
  disguises: z.array(z.string()).optional(),
  /** How `finish_task` ended it; the worktree and its branch are gone then, unless git could not read all of it. */
  finished: z
    .object({
      action: worktreeEndSchema,
      at: z.string(),
      /** Where the work is now: the project's commit, or the ref that keeps it; empty where there was none. */
      result: z.string(),
      /** The tree of the work. */
      tree: z.string().optional(),
    })
    .optional(),
});
export type Worktree = z.infer<typeof worktreeSchema>;

/** Makes worktrees for tasks that run next to another one in the same project, and brings home or drops what is in them. */
export type WorktreeMaker = Pick<Worktrees, 'create' | 'removeUnlessWork'>;
export type WorktreeFinisher = Pick<Worktrees, 'finish'>;

/** Of the words of a prompt, in the name of a branch. */
const SLUG_CHARS = 40;
const SHORT_ID_CHARS = 6;

/** `claude/fix-the-login-1a2b3c`: the first words of the prompt, as far as they are ASCII, and the end of the task's id. */
export function branchName(taskId: string, prompt: string): string {
  const plain = prompt
    .slice(0, 10 * SLUG_CHARS)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  let slug = '';
  for (const word of words) {
    if (slug.length + word.length >= SLUG_CHARS) break;
    slug += `${word}-`;
  }
  return `claude/${slug === '' ? 'task-' : slug}${taskId.slice(-SHORT_ID_CHARS)}`;
}

/** What became of the work of a worktree. `result` is that of its record. */
export function finishWords(action: WorktreeEnd, result: string): string {
  if (result === '') return `Nothing to ${action}.`;
  const kept = `Its commits remain as ${result}, for git log, show or cherry-pick.`;
  return {
    merge: `Merged: the project is at ${result}.`,
    apply: `Applied as uncommitted changes. ${kept}`,
    discard: `Discarded. ${kept}`,
  }[action];
}
