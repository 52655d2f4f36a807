import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Store } from '../store.js';
import { ChatLink } from '../transport/chat.js';
import { Board } from '../views/board.js';
import { useKeys } from '../views/keys.js';
import { navigateBy, useTaskLinks } from '../views/navigate.js';
import { Connection, OpenBoard, openInBrowser, startApp, tellingModel } from './chat.js';
import type { Host } from './host.js';

/** All tasks, in a chat. A task is shown by the board in a browser. */
function BoardApp({ host, store }: { readonly host: Host; readonly store: Store }) {
  const [words, setWords] = useState('');
  useTaskLinks((taskId) => void openInBrowser(host, taskId).then(setWords));
  useKeys();
  return (
    <div class="app">
      <Connection store={store} />
      {words !== '' && <p role="alert">{words}</p>}
      <Board store={store} />
      <footer class="app-foot">
        <OpenBoard host={host}>Open in the browser</OpenBoard>
      </footer>
    </div>
  );
}

void startApp('board', (host, root) => {
  // No key opens a browser.
  navigateBy(() => undefined);
  const store: Store = new Store(new ChatLink(host, { doing: tellingModel(host, () => store) }).open);
  render(<BoardApp host={host} store={store} />, root);
});
