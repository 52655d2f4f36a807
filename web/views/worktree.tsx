import { useEffect, useState } from 'preact/hooks';
import type { TaskCard, TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { finishWords, SHORT_HASH, visible } from '../text/words.js';
import { ErrorLine, useAction, useLater } from './parts.js';

type Finish = 'merge' | 'apply' | 'discard' | 'undo';
const inWorktree = ['merge', 'apply', 'discard'] as const;
const inShared = ['undo'] as const;
const UNDO =
  'Changed and deleted files are taken back, whoever changed them while the task ran; new files and commits stay.';

/** What a button says, and what it says when it has asked. */
const words: Readonly<Record<Finish, readonly [string, string]>> = {
  merge: ['Merge its branch', 'Merge all the same'],
  apply: ['Apply as uncommitted changes', 'Apply all the same'],
  discard: ['Discard its work…', 'Discard it'],
  undo: ['Undo what changed…', 'Undo it'],
};

interface WorktreeProps {
  readonly store: Store;
  readonly task: TaskCard;
  readonly state: TaskState;
}

/** What can become of the work of a task, and what became of it. */
export function WorktreeActions({ store, task, state }: WorktreeProps) {
  const [asked, setAsked] = useState<Finish>();
  const [done, setDone] = useState<Finish>();
  const { send, error, isBusy } = useAction(store);
  // It has changed since: what is there now is to be reviewed.
  useEffect(() => {
    if (error?.code === 'WORK_DOES_NOT_FIT') document.getElementById('tab-Changes')?.click();
  }, [error]);
  // A press that was meant for what stood here before, such as Kill, does nothing.
  const isLive = useLater(`${task.is_final} ${asked}`);
  const { task_id, branch, worktree_end: end } = task;
  const git = gitOf(state.receipt);
  const isUndoable = branch === null && 'start_tree' in git && 'tree' in git && git.start_tree !== git.tree;
  if (!task.is_final || (branch === null && !isUndoable)) return null;
  if (end !== null || done !== undefined)
    return <p role="status">{visible(end === null ? `The ${done} is done.` : finishWords(end))}</p>;
  const busy = busyIn(store, task);
  // The changes, where they are open, else the receipt: what is shown is what is brought home.
  const reviewed = store.diff.value?.tree ?? ('tree' in git ? String(git.tree) : '');
  const finish = (action: Finish): void => {
    setAsked(undefined);
    send({ type: 'task.finish', task_id, action, reviewed }, () => setDone(action));
  };
  const askedWords = (action: Finish): string =>
    action === 'discard' ? discardWords(task_id) : action === 'undo' ? UNDO : (busy ?? '');
  if (asked !== undefined)
    return (
      <div class="actions" role="group" aria-label="Are you sure?">
        <p>{visible(askedWords(asked))}</p>
        <button type="button" class="deny" disabled={!isLive} onClick={() => finish(asked)}>
          {words[asked][1]}
        </button>
        <button type="button" onClick={() => setAsked(undefined)}>
          Keep it
        </button>
      </div>
    );
  return (
    <div class="actions">
      {(isUndoable ? inShared : inWorktree).map((action: Finish) => (
        <button
          key={action}
          type="button"
          class={action === 'discard' ? 'plain deny' : action === 'merge' ? 'primary' : undefined}
          disabled={isBusy || !isLive || (action !== 'discard' && state.receipt === null)}
          onClick={() =>
            action === 'discard' || action === 'undo' || busy !== undefined
              ? setAsked(action)
              : finish(action)
          }
        >
          {words[action][0]}
        </button>
      ))}
      {reviewed !== '' && (
        <code class="quiet" title="The tree that is shown">
          {reviewed.slice(0, SHORT_HASH)}
        </code>
      )}
      <ErrorLine error={error} />
    </div>
  );
}

/** What is in the way of bringing the work home: another task that changes the same files. */
function busyIn(store: Store, { task_id, project_path }: TaskCard): string | undefined {
  const other = Object.values(store.board.value?.tasks ?? {}).find(
    (task) =>
      task.task_id !== task_id &&
      task.project_path === project_path &&
      task.branch === null &&
      !task.is_final &&
      task.status !== 'pending',
  );
  if (other === undefined) return undefined;
  return `“${other.prompt_summary}” works in the project now and may change the same files.`;
}

function discardWords(taskId: string): string {
  const ref = `refs/claude-code-bridge/discarded/${taskId}`;
  return `Its worktree, its branch and all its work go. A ref keeps it: git branch back ${ref} brings it back.`;
}

function gitOf(receipt: TaskState['receipt']): object {
  const git = receipt?.['git'];
  return typeof git === 'object' && git !== null ? git : {};
}
