import { render } from 'preact';
import { Store } from '../store.js';
import { AppTransport } from '../transport/mcp-app.js';
import { Overview } from '../views/board.js';
import { Keys } from '../views/keys.js';
import { TaskPage } from '../views/task.js';
import { useTasksInside } from '../views/tasks-inside.js';
import { Connection } from './connection.js';
import type { Host } from './host.js';
import { HostContext, OpenBoard } from './open-board.js';
import { startApp } from './start-app.js';
import { decisionOf, tellingModel } from './tell-model.js';

/** All tasks, in a chat. */
function BoardApp({ host, store, transport }: AppProps) {
  useTasksInside(store);
  const taskId = store.openTask.value;
  return (
    <HostContext.Provider value={host}>
      <div class={taskId === undefined ? 'app' : 'app with-task'}>
        <Connection store={store} transport={transport} />
        <Overview store={store} />
        {taskId !== undefined && <TaskPage key={taskId} store={store} taskId={taskId} />}
        <footer class="app-foot">
          <OpenBoard host={host} taskId={taskId} label="Open in the browser" />
          {host.hasFullScreen && host.mode.value === 'inline' && (
            <button type="button" onClick={() => host.fullScreen()}>
              Full screen
            </button>
          )}
        </footer>
        <Keys />
      </div>
    </HostContext.Provider>
  );
}

interface AppProps {
  readonly host: Host;
  readonly store: Store;
  readonly transport: AppTransport;
}

void startApp('board', (host, root) => {
  const doing = tellingModel(host, (action) => decisionOf(store, action));
  const transport = new AppTransport(host, { doing });
  const store: Store = new Store(transport);
  render(<BoardApp host={host} store={store} transport={transport} />, root);
});
