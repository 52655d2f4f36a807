import { useContext } from 'preact/hooks';
import type { Store } from '../store.js';
import { HostContext, OpenBoard } from './open-board.js';

/** Where the replay of a task is: in a chat there is no emulator. */
export function ReplayView({ taskId }: { readonly store: Store; readonly taskId: string }) {
  const host = useContext(HostContext);
  return (
    <p class="empty">
      The board in a browser plays the recording of this task.{' '}
      {host !== undefined && <OpenBoard host={host} taskId={taskId} label="Open the replay" />}
    </p>
  );
}
