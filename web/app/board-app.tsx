import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Store } from '../store.js';
import { ChatLink } from '../transport/chat.js';
import { Overview } from '../views/board.js';
import { Keys } from '../views/keys.js';
import { navigateBy } from '../views/navigate.js';
import { useTaskLinks } from '../views/task-links.js';
import { Connection } from './connection.js';
import type { Host } from './host.js';
import { OpenBoard, openInBrowser } from './open-board.js';
import { startApp } from './start-app.js';
import { ChatSurface } from './surface.js';
import { decisionOf, tellingModel } from './tell-model.js';

/** All tasks, in a chat. A task is shown by the board in a browser. */
function BoardApp({ host, store }: AppProps) {
  const [words, setWords] = useState('');
  useTaskLinks((taskId) => void openInBrowser(host, taskId).then(setWords));
  return (
    <ChatSurface host={host}>
      <div class="app">
        <Connection store={store} />
        {words !== '' && <p role="alert">{words}</p>}
        <Overview store={store} />
        <footer class="app-foot">
          <OpenBoard host={host} label="Open in the browser" />
          {host.hasFullScreen && host.mode.value === 'inline' && (
            <button type="button" onClick={() => host.fullScreen()}>
              Full screen
            </button>
          )}
        </footer>
        <Keys hasHelp={false} />
      </div>
    </ChatSurface>
  );
}

interface AppProps {
  readonly host: Host;
  readonly store: Store;
}

void startApp('board', (host, root) => {
  const doing = tellingModel(host, (action) => decisionOf(store, action));
  // No key opens a browser.
  navigateBy(() => undefined);
  const store: Store = new Store(new ChatLink(host, { doing }).open);
  render(<BoardApp host={host} store={store} />, root);
});
