import { useContext } from 'preact/hooks';
import type { DiffFile } from '../../src/board/state.js';
import { EditorContext } from './editor-context.js';

/** Opens a changed file in the diff editor, where its lines can be commented on, too. */
export function FileActions({ taskId, file }: { readonly taskId: string; readonly file: DiffFile }) {
  const editor = useContext(EditorContext);
  return (
    <button
      type="button"
      onClick={(event) => {
        // A click on the head of a file folds it.
        event.preventDefault();
        editor?.ask({ type: 'open-change', task_id: taskId, file: file.path });
      }}
    >
      Open in the diff editor
    </button>
  );
}
