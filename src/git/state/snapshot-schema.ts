// Pure: two snapshots of a project's repository, and what is different between them, as they are written down.
import { z } from 'zod';

/** An uncommitted file, with a stamp that shows later whether it changed. */
const dirtyFileSchema = z.object({
  /** Relative to the top of the repository. */
  path: z.string(),
  untracked: z.boolean(),
  /** Size, time, inode and mode; `missing` when the file does not exist. */
  stamp: z.string(),
});

/** A snapshot of a repository, or of the part of it that is the project. */
export const projectStateSchema = z.object({
  /** Top folder of the repository. */
  repository: z.string(),
  branch: z.string().nullable(),
  /** null before the first commit. */
  head: z.string().nullable(),
  /** The commits of the branches and of the stash, by their refs; left out when there are too many. */
  branches: z.record(z.string(), z.string()).optional(),
  /** At most 2,000; `dirty_count` counts all. */
  dirty: z.array(dirtyFileSchema),
  dirty_count: z.int(),
  /** By what git shows something else than is stored: see `disguisesOf`. */
  disguises: z.array(z.string()),
  /** What says which files git shows as changed: its settings, and stamps of files in `.git`. */
  views: z.record(z.string(), z.string()).optional(),
  /** The files of the project as a kept tree, or why there is none. */
  tree: z.string().optional(),
  not_kept: z.string().optional(),
});
export type ProjectState = z.infer<typeof projectStateSchema>;

const commitSchema = z.object({
  commit: z.string(),
  author: z.string(),
  /** When it was committed, ISO 8601, as the commit says. */
  date: z.string(),
  subject: z.string(),
});
export type NewCommit = z.infer<typeof commitSchema>;

const changedFileSchema = z.object({
  /** Relative to the top of the repository. */
  path: z.string(),
  change: z.enum(['created', 'changed', 'deleted']),
  /** Lines; missing for untracked and binary files, and for files with earlier uncommitted changes. */
  insertions: z.int().optional(),
  deletions: z.int().optional(),
  /** As git names them (100755; 120000 is a link): where the mode changed, or a new file is not 100644. Missing like the lines. */
  old_mode: z.string().optional(),
  new_mode: z.string().optional(),
  /** Where a link points now. */
  link: z.string().optional(),
  /** Set when the file had uncommitted changes before and was changed further. */
  dirty_before: z.literal(true).optional(),
});
export type ChangedFile = z.infer<typeof changedFileSchema>;

/** What is different between two snapshots. */
export const gitChangesSchema = z.object({
  /** Those that HEAD has now, and that no branch had before, newest first; at most 100. */
  commits: z.array(commitSchema),
  commits_total: z.int(),
  /** Compared with HEAD of the first snapshot; at most 1,000. */
  files: z.array(changedFileSchema),
  files_total: z.int(),
  insertions: z.int(),
  deletions: z.int(),
  /** Files that were uncommitted in the first snapshot, by what happened to them. */
  dirty_before: z.object({
    count: z.int(),
    /** Still uncommitted and unchanged. */
    untouched: z.array(z.string()),
    changed: z.array(z.string()),
    /** Committed since, without further changes. */
    committed: z.array(z.string()),
  }),
  /** Uncommitted files in the second snapshot. */
  uncommitted: z.int(),
  /** The tree at the end, which `finish_task` takes as `reviewed`: of a worktree, of all that is in it; else a kept one. */
  tree: z.string().optional(),
});

export interface ProjectChanges extends z.infer<typeof gitChangesSchema> {
  readonly branch: string | null;
  readonly head: string | null;
  /** Those of `files` that git compares through a filter, which is not run: whether they have changed is not known. */
  readonly filtered: readonly string[];
  /** Ignored files, changed since, that hold secrets or instruct by their names: absolute, at most 200. */
  readonly ignored: readonly string[];
  /** What makes this less sure, in words. */
  readonly doubts: readonly string[];
}
