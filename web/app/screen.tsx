import { useContext } from 'preact/hooks';
import type { Store } from '../store.js';
import { ScreenText } from '../views/screen-text.js';
import { OpenBoard, HostContext } from './open-board.js';

/** The screen of a task as text; the board in a browser has its terminal. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const host = useContext(HostContext);
  return (
    <ScreenText store={store} taskId={taskId}>
      {host !== undefined && <OpenBoard host={host} taskId={taskId} label="Open the terminal" />}
    </ScreenText>
  );
}
