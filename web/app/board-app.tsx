import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Store } from '../store.js';
import { ChatLink } from '../transport/chat.js';
import { Board } from '../views/board.js';
import { Button } from '../views/parts.js';
import { navigateBy, useTaskLinks } from '../views/navigate.js';
import { Connection, openInBrowser, startApp, tellingModel } from './chat.js';
import type { Host } from './host.js';

/** All tasks, in a chat. A task is shown by the board in a browser. */
function BoardApp({ host, store }: { readonly host: Host; readonly store: Store }) {
  const [above, setAbove] = useState('');
  const [below, setBelow] = useState('');
  useTaskLinks((taskId) => void openInBrowser(host, taskId).then(setAbove));
  return (
    <div class="app">
      <Connection store={store} />
      {above !== '' && <p role="alert">{above}</p>}
      <Board store={store} />
      <footer class="app-foot">
        <Button act={() => void openInBrowser(host, undefined).then(setBelow)}>Open in the browser</Button>
        <span class="open-board" role="alert">
          {below}
        </span>
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
