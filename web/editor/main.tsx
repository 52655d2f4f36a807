import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import { Suspense } from '../lazy.js';
import { TaskPage } from '../parts.js';
import { Store } from '../store.js';
import '../style.css';
import { EditorTransport, type VsCodeApi } from '../transport/editor.js';
import { Overview } from '../views/board.js';
import { Keys } from '../views/keys.js';
import { useTasksInside } from '../views/tasks-inside.js';
import { Connection } from './connection.js';
import { EditorContext } from './editor-context.js';
import './editor.css';

declare function acquireVsCodeApi(): VsCodeApi;

/** All tasks, in a view of VS Code. */
function EditorBoard({ store, editor, api }: BoardProps) {
  useTasksInside(store);
  // A window that is loaded again shows the task that was open.
  useSignalEffect(() => api.setState({ task_id: store.openTask.value ?? null }));
  const taskId = store.openTask.value;
  return (
    <EditorContext.Provider value={editor}>
      <div class={taskId === undefined ? 'app' : 'app with-task'}>
        <Connection state={store.connection.value} editor={editor} />
        {(store.board.value !== undefined || store.connection.value.how !== 'lost') && (
          <Overview store={store} />
        )}
        {taskId !== undefined && (
          <Suspense fallback={<main class="task empty">Loading…</main>}>
            <TaskPage key={taskId} store={store} taskId={taskId} />
          </Suspense>
        )}
        <Keys />
      </div>
    </EditorContext.Provider>
  );
}

interface BoardProps {
  readonly store: Store;
  readonly editor: EditorTransport;
  readonly api: VsCodeApi;
}

function taskOfBefore(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('task_id' in state)) return undefined;
  return typeof state.task_id === 'string' ? state.task_id : undefined;
}

const root = document.getElementById('app');
if (root !== null) {
  const api = acquireVsCodeApi();
  const editor = new EditorTransport(api, (taskId) => store.open(taskId));
  const store: Store = new Store(editor);
  store.open(taskOfBefore(api.getState()));
  root.textContent = '';
  render(<EditorBoard store={store} editor={editor} api={api} />, root);
}
