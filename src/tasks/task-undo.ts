import { BridgeError } from '../base/errors.js';
import { countedNoun, someNames } from '../base/text/text.js';
import type { UndoQuery, UndoReport } from '../git/state/undo-changes.js';
import type { StateDir } from '../store/state-dir.js';
import { treesOf } from './receipt/receipt-git.js';
import { readReceipt } from './receipt/task-receipts.js';
import type { TaskRecord } from './task.js';

/** `git revert` would refuse: the files have changed. */
const TAKEN_FROM_COMMITS =
  ' A file of them that was taken back is now a change that is not committed: commit it, or bring the committed file back with git restore.';
const IGNORED_STAY = 'Ignored files stay as they are.';

export interface TaskUndoParts {
  readonly stateDir: StateDir;
  /** Takes back what lies between two kept trees. Throws WORK_DOES_NOT_FIT, and the errors of git. */
  readonly undo: (query: UndoQuery) => Promise<UndoReport>;
}

/**
 * Takes back what changed in the shared folder of a task that has ended; gives in sentences what was done and what was left. Throws
 * NOT_A_REPOSITORY and WORK_DOES_NOT_FIT, INVALID_ARGUMENTS where it was not reviewed, and the errors of git; then nothing has changed.
 */
export async function undoTask(
  { task_id }: Pick<TaskRecord, 'task_id'>,
  reviewed: string | undefined,
  { stateDir, undo }: TaskUndoParts,
): Promise<string[]> {
  const git = (await readReceipt(stateDir, task_id))?.git;
  if (git?.state === 'none') throw new BridgeError('NOT_A_REPOSITORY', git.why, BY_HAND);
  if (git?.state !== 'repository' || git.start_tree === undefined || git.tree === undefined) {
    throw new BridgeError(
      'WORK_DOES_NOT_FIT',
      `The files of ${task_id} as they were at its start and its end were not kept: the notes of its receipt say why.`,
      BY_HAND,
    );
  }
  const { repository, start_tree: start, tree: end, files, files_total, commits, commits_total } = git;
  if (reviewed !== end) throw notReviewed(files, files_total, end);
  const done = await undo({ repository, start, end, objects: treesOf(stateDir, task_id) });
  return [
    done.files.length === 0
      ? 'No file was taken back: those that were there before the task are as they were.'
      : `${countedNoun(done.files.length, 'file')} taken back: ${someNames(done.files)}.`,
    ...(commits_total > 0
      ? [
          `Commits stay (${someNames(commits.map(({ commit }) => commit.slice(0, 10)))}).${done.files.length === 0 ? '' : TAKEN_FROM_COMMITS}`,
        ]
      : []),
    ...done.left,
    IGNORED_STAY,
  ];
}

const BY_HAND = 'Nothing was changed. Take it back by hand, or start a task for it.';

function notReviewed(files: readonly { readonly path: string }[], total: number, tree: string): BridgeError {
  const names = `${countedNoun(total, 'file')} (${someNames(files.map(({ path }) => path))})`;
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `Undo takes back ${names}: all that changed in the folder while the task ran, whoever did it.`,
    `Nothing was changed. Once that was reviewed (get_task_diff), call again with reviewed "${tree}".`,
  );
}
