import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import { Store } from '../store.js';
import '../style.css';
import { Editor, type VsCodeApi } from '../transport/editor.js';
import { Always } from '../views/always.js';
import { Overview } from '../views/board.js';
import { Keys } from '../views/keys.js';
import { navigateBy } from '../views/navigate.js';
import { Plan } from '../views/plan.js';
import { SurfaceContext } from '../views/surface.js';
import { TaskPage } from '../views/task.js';
import { useTaskLinks } from '../views/task-links.js';
import { Connection } from './connection.js';
import { EditorContext } from './editor-context.js';
import './editor.css';
import { FileActions } from './file-actions.js';
import { HeadActions } from './head-actions.js';
import { TerminalView } from './terminal.js';

/** Terminals and changed files are opened in the editor itself. */
const surface = {
  HeadActions,
  StartHint: () => <>press “New task…”</>,
  Plan,
  Always,
  FileActions,
  TerminalView,
};

declare function acquireVsCodeApi(): VsCodeApi;

/** All tasks, in a view of VS Code. */
function EditorBoard({ store, editor, api }: BoardProps) {
  useTaskLinks((taskId) => store.open(taskId));
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
        {taskId !== undefined && <TaskPage key={taskId} store={store} taskId={taskId} />}
        <Keys />
      </div>
    </EditorContext.Provider>
  );
}

interface BoardProps {
  readonly store: Store;
  readonly editor: Editor;
  readonly api: VsCodeApi;
}

function taskOfBefore(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('task_id' in state)) return undefined;
  return typeof state.task_id === 'string' ? state.task_id : undefined;
}

const root = document.getElementById('app');
if (root !== null) {
  const api = acquireVsCodeApi();
  const editor = new Editor(api, {
    show: (taskId) => store.open(taskId),
    ready: () => store.connect(),
  });
  const store: Store = new Store(editor.open);
  navigateBy((taskId) => store.open(taskId));
  store.open(taskOfBefore(api.getState()));
  root.textContent = '';
  render(
    <SurfaceContext.Provider value={surface}>
      <EditorBoard store={store} editor={editor} api={api} />
    </SurfaceContext.Provider>,
    root,
  );
}
