import { useEffect, useState } from 'preact/hooks';
import type { TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { isFields, textIn } from '../text/fields.js';
import { sameProject } from '../text/machines.js';
import { finishWords, SHORT_HASH, titleOf, visible } from '../text/words.js';
import { ErrorLine, useAction, useLater, Button } from './parts.js';
import type { TaskProps } from './surface.js';

type Finish = 'merge' | 'apply' | 'discard' | 'undo';
const UNDO =
  'Changed and deleted files are taken back, whoever changed them while the task ran; new files and commits stay.';

/** What a button says, what it says when it has asked, and how it looks. */
const words: Readonly<Record<Finish, readonly [string, string, string?]>> = {
  merge: ['Merge its branch', 'Merge anyway', 'primary'],
  apply: ['Apply as uncommitted changes', 'Apply anyway'],
  discard: ['Discard its work…', 'Discard it', 'plain deny'],
  undo: ['Undo what changed…', 'Undo it'],
};

/** What can become of the work of a task, and what became of it. */
export function WorktreeActions({ store, task, state }: TaskProps) {
  const [asked, setAsked] = useState<Finish>();
  const [done, setDone] = useState<Finish>();
  const { send, error, isBusy } = useAction(store);
  // It has changed since: what is there now is to be reviewed.
  useEffect(() => {
    if (error?.code === 'WORK_DOES_NOT_FIT') document.getElementById('tab-Changes')?.click();
  }, [error]);
  // A press that was meant for what stood here before, such as Kill, does nothing.
  const isLive = useLater(`${task.is_final} ${asked}`);
  const { task_id, branch, worktree_end: end, is_final } = task;
  const git = isFields(state.receipt?.['git']) ? state.receipt['git'] : {};
  const [before, after] = [textIn(git, 'start_tree'), textIn(git, 'tree')];
  const isUndoable = branch === null && before !== '' && after !== '' && before !== after;
  if (!is_final || (branch === null && !isUndoable)) return null;
  if (end !== null || done !== undefined)
    return <p role="status">{visible(end === null ? `The ${done} is done.` : finishWords(end))}</p>;
  // The changes, where they are open, else the receipt: what is shown is what is brought home.
  const reviewed = store.diff.value?.tree ?? after;
  const isOther = task.checked_tree !== null && task.checked_tree !== reviewed;
  const unmet = task.unmet ?? (isOther ? 'The checks were met on another state than this one' : null);
  const inTheWay = [unmet && `${unmet}.`, busyIn(store, task)].filter(Boolean).join(' ');
  const bring = inTheWay === '' ? undefined : inTheWay;
  const why = {
    ...{ merge: bring, apply: bring, undo: UNDO },
    discard: `Its worktree, its branch and all its work go. A ref keeps it: git branch back refs/claude-code-bridge/discarded/${task_id} brings it back.`,
  };
  const finish = (action: Finish): void => {
    setAsked(undefined);
    // Who presses has read why not.
    const anyway = unmet !== null && asked === action;
    send({ type: 'task.finish', task_id, action, reviewed, anyway }, () => setDone(action));
  };
  if (asked !== undefined)
    return (
      <div class="actions" role="group" aria-label="Are you sure?">
        <p>{visible(why[asked] ?? '')}</p>
        <Button look="deny" off={!isLive} act={() => finish(asked)}>
          {words[asked][1]}
        </Button>
        <Button act={() => setAsked(undefined)}>Keep it</Button>
      </div>
    );
  const offered: readonly Finish[] = isUndoable ? ['undo'] : ['merge', 'apply', 'discard'];
  return (
    <div class="actions">
      {offered.map((action) => (
        <Button
          key={action}
          look={words[action][2]}
          title={`Of the tree that is shown: ${reviewed.slice(0, SHORT_HASH)}`}
          off={isBusy || !isLive || (action !== 'discard' && state.receipt === null)}
          act={() => (why[action] === undefined ? finish(action) : setAsked(action))}
        >
          {words[action][0]}
        </Button>
      ))}
      <ErrorLine error={error} />
    </div>
  );
}

/** What is in the way of bringing the work home: another task that changes the same files. */
function busyIn(store: Store, wanted: TaskCard): string | undefined {
  const other = Object.values(store.board.value?.tasks ?? {}).find(
    (task) =>
      task.task_id !== wanted.task_id &&
      sameProject(task, wanted) &&
      task.branch === null &&
      !task.is_final &&
      task.status !== 'pending',
  );
  return other && `“${titleOf(other)}” works in the project now and may change the same files.`;
}
