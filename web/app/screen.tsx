import { useContext, useEffect } from 'preact/hooks';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { OpenBoard, HostContext } from './open-board.js';

/** What the terminal of a task shows, as text: in a chat there is no emulator. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const host = useContext(HostContext);
  useEffect(() => store.openScreen(taskId), [store, taskId]);
  const screen = store.screen.value;
  return (
    <div class="terminal-view">
      <div class="terminal-bar">
        <span class="quiet" role="status">
          {screen === undefined ? 'Asking for the screen…' : visible(screen.why ?? 'You only watch.')}
        </span>
        {host !== undefined && <OpenBoard host={host} taskId={taskId} label="Open the terminal" />}
      </div>
      <pre class="screen" tabIndex={0} aria-label="Terminal">
        {visible(screen?.text ?? '')}
      </pre>
    </div>
  );
}
