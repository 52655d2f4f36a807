import { visible } from '../text/visible.js';
import type { Editor } from '../transport/editor.js';
import type { ConnectionState } from '../../src/board/client.js';

/** Why nothing new comes, when nothing does. */
export function Connection({ state, editor }: { readonly state: ConnectionState; readonly editor: Editor }) {
  if (state.how !== 'lost') return null;
  return (
    <div class="connection" role="alert">
      The board is not connected; it is looked for again. Tasks go on meanwhile. {visible(state.why)}{' '}
      <button type="button" onClick={() => editor.connect(true)}>
        Start the board
      </button>{' '}
      <button type="button" onClick={() => editor.ask({ type: 'open-settings' })}>
        Settings
      </button>
    </div>
  );
}
