import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { GitReport } from '../../tasks/receipt/receipt.js';
import type { TaskRecord } from '../../tasks/task.js';
import { filesOfPatch, type ReadPatch } from '../read-patch.js';
import type { ReplayFiles, ReplayState } from './replay-state.js';

const MAX_SUBJECT_CHARS = 200;
/** git knows the second of a commit: at its end the commit certainly is there. */
const REST_OF_SECOND_MS = 999;

export interface CommitSources {
  /** What git sees of a task's work. */
  readonly reportOf: (record: TaskRecord) => Promise<GitReport>;
  readonly readPatch: ReadPatch;
}

/** The commits of a task, the oldest first. Throws the errors of git. */
export async function commitsOf(
  { reportOf }: Pick<CommitSources, 'reportOf'>,
  record: TaskRecord,
): Promise<Pick<ReplayState, 'commits' | 'files_why'>> {
  const report = await reportOf(record);
  if (report.state !== 'repository')
    return { commits: [], files_why: `git has no state of the files: ${report.why}` };
  return {
    commits: report.commits.toReversed().map(({ commit, date, subject }) => ({
      commit,
      at_ms: Date.parse(date) + REST_OF_SECOND_MS,
      subject: oneLine(subject, MAX_SUBJECT_CHARS),
    })),
    files_why:
      report.commits.length === 0
        ? 'git has no state of the files in between: the task committed nothing.'
        : null,
  };
}

/** The changes of a commit of the task: its own, or all since the task began. Throws REVISION_NOT_FOUND, and the errors of git. */
export async function filesOfCommit(
  { reportOf, readPatch }: CommitSources,
  record: TaskRecord,
  { commit, since }: { readonly commit: string; readonly since: 'commit' | 'task' },
  signal: AbortSignal,
): Promise<ReplayFiles> {
  const report = await reportOf(record);
  if (report.state !== 'repository' || !report.commits.some((one) => one.commit === commit)) {
    throw new BridgeError(
      'REVISION_NOT_FOUND',
      `The task has no commit ${commit}.`,
      'Choose one of those on the timeline.',
    );
  }
  const { worktree } = record;
  // The worktree of a task that was finished is gone; its commits are in the repository.
  const repository = worktree?.finished === undefined ? report.repository : worktree.repository;
  // Nothing was before the first commit of a repository.
  const isFirst = commit === report.commits.at(-1)?.commit && report.head_before === null;
  const parent = isFirst ? null : `${commit}^`;
  const base = since === 'task' ? report.head_before : parent;
  return filesOfPatch(readPatch, { repository, base, end: commit }, signal);
}
