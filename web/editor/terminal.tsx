import { useContext } from 'preact/hooks';
import { EditorContext } from './editor-context.js';

/** The terminal of a task is one of the editor's. */
export function TerminalView({ taskId }: { readonly taskId: string }) {
  const editor = useContext(EditorContext);
  return (
    <p class="empty">
      <button type="button" onClick={() => editor?.ask({ type: 'open-terminal', task_id: taskId })}>
        Open the terminal
      </button>
    </p>
  );
}
