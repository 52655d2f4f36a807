import '../style.css';
import './app.css';
import { Host } from './host.js';

/** Changes with what the page says to the client, not with each version of the bridge. */
const APP_VERSION = '1.0.0';

/** Greets the client around this page and then shows `show`; says so where there is no such client. */
export async function startApp(name: string, show: (host: Host, root: HTMLElement) => void): Promise<void> {
  const root = document.getElementById('app');
  if (root === null) return;
  if (parent === window) {
    root.textContent = 'This page is shown by a chat client. In a browser: claude-code-bridge board';
    return;
  }
  const host = new Host(parent);
  try {
    root.textContent = '';
    show(host, root);
    await host.start(`claude-code-bridge-${name}`, APP_VERSION);
  } catch (error) {
    root.textContent = `The chat client does not show this page: ${String(error)}`;
  }
}
