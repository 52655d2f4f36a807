import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import './style.css';
import './browser.css';
import { Store } from './store.js';
import { SocketTransport } from './transport/socket.js';
import { App } from './views/app.js';

const root = document.getElementById('app');
if (root !== null) {
  root.textContent = '';
  render(<App store={new Store(new SocketTransport())} />, root);
}
