import { useContext, useEffect } from 'preact/hooks';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { EditorContext } from './editor-context.js';

/** What the terminal of a task shows, as text; the terminal itself is one of the editor's. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const editor = useContext(EditorContext);
  useEffect(() => store.openScreen(taskId), [store, taskId]);
  const screen = store.screen.value;
  return (
    <div class="terminal-view">
      <div class="terminal-bar">
        <span class="quiet" role="status">
          {screen === undefined ? 'Asking for the screen…' : visible(screen.why ?? 'You only watch.')}
        </span>
        <button type="button" onClick={() => editor?.ask({ type: 'open-terminal', task_id: taskId })}>
          Open the terminal
        </button>
      </div>
      <pre class="screen" tabIndex={0} aria-label="Terminal">
        {visible(screen?.text ?? '')}
      </pre>
    </div>
  );
}
