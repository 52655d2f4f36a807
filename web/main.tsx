import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import './style.css';
import './browser.css';
import { Store } from './store.js';
import { loadsNewLinks, openSocket } from './transport/socket.js';
import { Always } from './views/always.js';
import { App } from './views/app.js';
import { Plan } from './views/as-markdown.js';
import { openNewTask } from './views/navigate.js';
import { NoticesButton } from './views/notices.js';
import { SurfaceContext } from './views/surface.js';
import { Button } from './views/parts.js';

function HeadActions() {
  return (
    <>
      <NoticesButton />
      <Button look="primary" act={openNewTask}>
        New task<kbd aria-hidden="true">n</kbd>
      </Button>
    </>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  const store = new Store(openSocket);
  loadsNewLinks(() => store.dispose());
  root.textContent = '';
  render(
    <SurfaceContext.Provider value={{ HeadActions, Plan, Always }}>
      <App store={store} />
    </SurfaceContext.Provider>,
    root,
  );
}
