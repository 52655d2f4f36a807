import type { Store } from '../store.js';
import { visible } from '../text/visible.js';

/** Why nothing new comes, when nothing does. */
export function Connection({ store }: { readonly store: Store }) {
  const state = store.connection.value;
  if (state.how === 'lost') {
    return (
      <div class="connection" role="alert">
        The board does not answer; what you see is from before. It is tried again. {visible(state.why)}
      </div>
    );
  }
  if (state.how !== 'refused') return null;
  return (
    <div class="connection" role="alert">
      The chat client does not let this page read your tasks: {visible(state.why)}{' '}
      <button type="button" onClick={() => store.connect()}>
        Try again
      </button>{' '}
      In a browser: <code>claude-code-bridge board</code>
    </div>
  );
}
