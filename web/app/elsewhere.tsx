import { useContext } from 'preact/hooks';
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
