import { useContext } from 'preact/hooks';
import type { DiffFile, TaskCard, TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { HostContext, OpenBoard } from './open-board.js';

interface ViewProps {
  readonly store: Store;
  readonly taskId: string;
}

/** Where the replay of a task is: in a chat there is no emulator. */
export function ReplayView({ taskId }: ViewProps) {
  return <Elsewhere taskId={taskId} words="plays the recording of this task." label="Open the replay" />;
}

/** Where the receipt of a task is: the tool get_task_result tells the model of it. */
export function ReceiptView({ state: { task } }: { readonly state: TaskState }) {
  if (task === null) return null;
  const taskId = task.task_id;
  return <Elsewhere taskId={taskId} words="shows the receipt of this task." label="Open the receipt" />;
}

/** Where the log of a task is: the timeline says the same, and fits a chat. */
export function LogView({ taskId }: ViewProps) {
  return <Elsewhere taskId={taskId} words="shows the log of this task." label="Open the log" />;
}

/** Where changed images are: no message of a chat is as large. */
export function ImagesView({ taskId }: ViewProps) {
  return <Elsewhere taskId={taskId} words="shows the image before and now." label="Open the changes" />;
}

/** The list of a chat is short: its search finds projects, too. */
export function Filters() {
  return null;
}

/** The client of a chat notifies its person. */
export function HeadActions() {
  return null;
}

/** A chat opens no files. */
export function FileActions(_file: { readonly taskId: string; readonly file: DiffFile }) {
  return null;
}

/** Nothing of a chat is done by keys alone. */
export function KeysHelp() {
  return null;
}

/** Where a person decides what becomes of a worktree; the model of the chat has a tool for it, too. */
export function WorktreeActions({ task: { task_id, branch, is_final } }: { readonly task: TaskCard }) {
  if (branch === null || !is_final) return null;
  return <Elsewhere taskId={task_id} words="merges, applies or discards its branch." label="Open it" />;
}

export function Processes() {
  return <p class="quiet">The board in a browser shows your programs.</p>;
}

function Elsewhere({
  taskId,
  words,
  label,
}: {
  readonly taskId: string;
  readonly words: string;
  readonly label: string;
}) {
  const host = useContext(HostContext);
  return (
    <p class="empty">
      The board in a browser {words} {host !== undefined && <OpenBoard {...{ host, taskId, label }} />}
    </p>
  );
}
