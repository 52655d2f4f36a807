import type { ClientAction } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import '../style.css';
import { visible } from '../text/words.js';
import { keyOf } from '../views/decisions.js';
import './app.css';
import { Host } from './host.js';
import { textIn } from '../text/fields.js';
import { telling } from './told.js';
import { Button } from '../views/parts.js';

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

/** Why nothing new comes, when nothing does. */
export function Connection({ store }: { readonly store: Store }) {
  const state = store.connection.value;
  if (state.how !== 'lost' && state.how !== 'refused') return null;
  const why = visible(state.why);
  return (
    <div class="connection" role="alert">
      {state.how === 'lost' ? (
        `The board does not answer; what you see is from before. It is tried again. ${why}`
      ) : (
        <>
          The chat client does not let this page read your tasks: {why}{' '}
          <Button act={() => store.connect()}>Try again</Button> In a browser:{' '}
          <code>claude-code-bridge board</code>
        </>
      )}
    </div>
  );
}

/** Opens the board in a browser, at a task. Gives what is to be said where the client opens no link. Never rejects. */
export async function openInBrowser(host: Host, taskId: string | undefined): Promise<string> {
  try {
    const { isError, fields, text } = await host.callTool('open_board', {});
    if (isError) return text;
    const url = `${textIn(fields, 'url')}${taskId === undefined ? '' : `&task=${taskId}`}`;
    const isOpen = await host.openLink(url);
    return isOpen ? '' : `The client opens no link. Open this one yourself, within a minute: ${url}`;
  } catch (error) {
    return `It was refused: ${String(error)}`;
  }
}

/** Tells the model of the chat what a person did, once it was done. */
export function tellingModel(host: Host, store: () => Store): (action: ClientAction) => () => void {
  const told = telling();
  return (action) => {
    if (action.type !== 'decision.answer') return () => undefined;
    // Found now: when it is answered it is gone from the overview.
    const decision = store().board.value?.decisions[keyOf(action)];
    return () => host.tellModel(told(action, decision));
  };
}
