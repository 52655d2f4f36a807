import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { GitReport } from '../../tasks/receipt/receipt.js';
import type { TaskRecord } from '../../tasks/task.js';
import { filesOfPatch, type ReadPatch } from '../read-patch.js';
import type { ReplayFiles, ReplayState } from './replay-state.js';

const MAX_SUBJECT_CHARS = 200;
/** git knows the second of a commit: at its end the commit certainly is there. */
const REST_OF_SECOND_MS = 999;

/** What git has of a task: its commits, and the files in them. */
interface Work {
  readonly repository: string;
  /** Null: nothing was committed before the task. */
  readonly base: string | null;
  /** The oldest first. */
  readonly commits: readonly string[];
}

/** The commits of one task, and the files as they are in them. */
export class CommitFiles {
  readonly #reportOf: (record: TaskRecord) => Promise<GitReport>;
  readonly #readPatch: ReadPatch;
  /** What of the record says that there may be other commits, as it was when git was asked. */
  #seen = '';
  #work: Work | undefined;

  constructor(reportOf: (record: TaskRecord) => Promise<GitReport>, readPatch: ReadPatch) {
    this.#reportOf = reportOf;
    this.#readPatch = readPatch;
  }

  /** The commits with their times since `beganMs`; undefined when nothing says that there are others than before. */
  async commits(
    record: TaskRecord,
    beganMs: number,
  ): Promise<Pick<ReplayState, 'commits' | 'files_why'> | undefined> {
    const { status, turns, activity, files_changed, worktree } = record;
    const seen = JSON.stringify([status, turns, activity, files_changed, worktree?.finished?.at]);
    if (seen === this.#seen) return undefined;
    this.#seen = seen;
    const report = await this.#reportOf(record);
    if (report.state !== 'repository') {
      this.#work = undefined;
      return { commits: [], files_why: `git has no state of the files: ${report.why}` };
    }
    const commits = report.commits.toReversed();
    this.#work = {
      // The worktree of a task that was finished is gone; its commits are in the repository.
      repository: worktree?.finished === undefined ? report.repository : worktree.repository,
      base: report.head_before,
      commits: commits.map(({ commit }) => commit),
    };
    return {
      commits: commits.map(({ commit, date, subject }) => ({
        commit,
        at_ms: Date.parse(date) + REST_OF_SECOND_MS - beganMs,
        subject: oneLine(subject, MAX_SUBJECT_CHARS),
      })),
      files_why:
        commits.length === 0 ? 'git has no state of the files in between: the task committed nothing.' : null,
    };
  }

  /** The changes of a commit: its own, or all since the task began. Throws REVISION_NOT_FOUND, and the errors of git. */
  async of(commit: string, since: 'commit' | 'task', signal: AbortSignal): Promise<ReplayFiles> {
    const work = this.#work;
    if (work === undefined || !work.commits.includes(commit)) {
      throw new BridgeError(
        'REVISION_NOT_FOUND',
        `The task has no commit ${commit}.`,
        'Choose one of those on the timeline.',
      );
    }
    const isFirst = commit === work.commits[0] && work.base === null;
    const parent = isFirst ? null : `${commit}^`;
    return filesOfPatch(
      this.#readPatch,
      { repository: work.repository, base: since === 'task' ? work.base : parent, end: commit },
      signal,
    );
  }
}
