import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import { lazy } from '../lazy.js';
import { Store } from '../store.js';
import '../style.css';
import '../browser.css';
import { isFields, textIn } from '../text/fields.js';
import { visible } from '../text/words.js';
import { Editor, type VsCodeApi } from '../transport/editor.js';
import { Always } from '../views/always.js';
import { Plan } from '../views/as-markdown.js';
import { Board } from '../views/board.js';
import { navigateBy, useTaskLinks } from '../views/navigate.js';
import { SurfaceContext } from '../views/surface.js';
import './editor.css';
import { Button } from '../views/parts.js';

const TaskPage = lazy(async () => (await import('../views/task.js')).TaskPage, true);

declare function acquireVsCodeApi(): VsCodeApi;

interface BoardProps {
  readonly store: Store;
  readonly editor: Editor;
  readonly api: VsCodeApi;
}

/** All tasks, in a view of VS Code. */
function EditorBoard({ store, editor, api }: BoardProps) {
  useTaskLinks((taskId) => store.open(taskId));
  // A window that is loaded again shows the task that was open.
  useSignalEffect(() => api.setState({ task_id: store.openTask.value ?? null }));
  const taskId = store.openTask.value;
  const isLost = store.connection.value.how === 'lost';
  return (
    <div class={taskId === undefined ? 'app' : 'app with-task'}>
      {isLost && <Lost store={store} editor={editor} />}
      {(store.board.value !== undefined || !isLost) && (
        <Board store={store}>
          {taskId === undefined ? undefined : <TaskPage key={taskId} of={{ store }} fallback={<main />} />}
        </Board>
      )}
    </div>
  );
}

/** Why nothing new comes. */
function Lost({ store, editor }: Omit<BoardProps, 'api'>) {
  const state = store.connection.value;
  return (
    <div class="connection" role="alert">
      The board is not connected; it is looked for again. Tasks continue meanwhile.{' '}
      {visible(state.how === 'lost' ? state.why : '')}{' '}
      <Button act={() => editor.connect(true)}>Start the board</Button>{' '}
      <Button act={() => editor.ask({ type: 'open-settings' })}>Settings</Button>
    </div>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  const api = acquireVsCodeApi();
  const editor = new Editor(api, {
    show: (taskId) => store.open(taskId),
    ready: () => store.connect(),
  });
  const store: Store = new Store(editor.open);
  const HeadActions = () => (
    <Button look="primary" act={() => editor.ask({ type: 'start-task' })}>
      New task…
    </Button>
  );
  navigateBy((taskId) => store.open(taskId));
  const before = api.getState();
  store.open((isFields(before) && textIn(before, 'task_id')) || undefined);
  root.textContent = '';
  render(
    <SurfaceContext.Provider value={{ HeadActions, Plan, Always, editor }}>
      <EditorBoard store={store} editor={editor} api={api} />
    </SurfaceContext.Provider>,
    root,
  );
}
