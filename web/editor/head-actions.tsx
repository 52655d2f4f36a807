import { useContext } from 'preact/hooks';
import { EditorContext } from './editor-context.js';

/** The editor notifies its person; here a task can be started. */
export function HeadActions() {
  const editor = useContext(EditorContext);
  return (
    <button type="button" onClick={() => editor?.ask({ type: 'start-task' })}>
      New task…
    </button>
  );
}
