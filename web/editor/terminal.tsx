import { useContext } from 'preact/hooks';
import type { Store } from '../store.js';
import { ScreenText } from '../views/screen-text.js';
import { EditorContext } from './editor-context.js';

/** The screen of a task as text; its terminal is one of the editor's. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const editor = useContext(EditorContext);
  return (
    <ScreenText store={store} taskId={taskId}>
      <button type="button" onClick={() => editor?.ask({ type: 'open-terminal', task_id: taskId })}>
        Open the terminal
      </button>
    </ScreenText>
  );
}
