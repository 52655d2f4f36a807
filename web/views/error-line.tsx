import type { ActionError } from '../../src/board/protocol.js';
import { visible } from '../text/visible.js';

/** What went wrong, and what to do. */
export function ErrorLine({ error }: { readonly error: ActionError | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      {visible(error.message)} {visible(error.hint)}
    </p>
  );
}
