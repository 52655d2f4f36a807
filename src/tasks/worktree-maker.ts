// Pure.
import { z } from 'zod';
import type { AllowedPath } from '../projects/allowed-roots.js';

const finishActions = ['merge', 'apply', 'discard'] as const;
export const finishActionSchema = z.enum(finishActions);
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
  /** How `finish_task` ended it; the worktree and its branch are gone then. */
  finished: z
    .object({
      action: finishActionSchema,
      at: z.string(),
      /** Where the work is now: the commit that a merge made, or the ref that keeps what was discarded. */
      result: z.string(),
    })
    .optional(),
});
export type Worktree = z.infer<typeof worktreeSchema>;

/** Makes worktrees for tasks that run next to another one in the same project. */
export interface WorktreeMaker {
  /**
   * A worktree at the last commit on a branch of its own, `claude/<task_id>`; uncommitted changes stay in the project.
   * `folder` is where the task works: the same folder of the worktree as `project` is of its repository. Throws
   * NOT_A_REPOSITORY, PATH_NOT_FOUND for a folder that the last commit does not have, GIT_FAILED, NOT_WRITABLE; nothing is
   * left behind then.
   */
  create(
    project: AllowedPath,
    taskId: string,
    signal: AbortSignal,
  ): Promise<{ readonly folder: AllowedPath; readonly worktree: Worktree }>;

  /**
   * Removes the worktree and its branch if they hold no work: for a task that never began, and before the record of one that
   * ended is pruned. False when there is work in them, or when that is unknown: then nothing was removed, and the record
   * must stay, since it is what names them.
   */
  removeUnlessWork(worktree: Worktree): Promise<boolean>;
}
