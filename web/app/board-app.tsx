import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Store } from '../store.js';
import { AppTransport } from '../transport/mcp-app.js';
import { navigateBy } from '../views/app.js';
import { Overview } from '../views/board.js';
import { Keys } from '../views/keys.js';
import { TaskPage } from '../views/task.js';
import { Connection } from './connection.js';
import type { Host } from './host.js';
import { HostContext, OpenBoard } from './open-board.js';
import { startApp } from './start-app.js';
import { decisionOf, tellingModel } from './tell-model.js';

const TASK_LINK = /^#\/(task_[0-9a-f]{20})$/;

/** All tasks, in a chat. */
function BoardApp({ host, store, transport }: AppProps) {
  useEffect(() => {
    navigateBy((taskId) => store.open(taskId));
    const follow = (event: MouseEvent): void => followLink(event, store);
    addEventListener('click', follow);
    return () => removeEventListener('click', follow);
  }, [store]);
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

/** The address of a page in a chat is not its own: links to tasks are followed inside. */
function followLink(event: MouseEvent, store: Store): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const taskId = TASK_LINK.exec(link?.getAttribute('href') ?? '')?.[1];
  if (taskId === undefined) return;
  event.preventDefault();
  store.open(taskId);
}

void startApp('board', (host, root) => {
  const doing = tellingModel(host, (action) => decisionOf(store, action));
  const transport = new AppTransport(host, { doing });
  const store: Store = new Store(transport);
  render(<BoardApp host={host} store={store} transport={transport} />, root);
});
