import { useRef, useState } from 'preact/hooks';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';

const verdicts: Readonly<Record<string, string>> = {
  allow: 'allowed',
  allow_session: 'allowed for the session',
  deny: 'denied',
};

/** Says who answered when a question of this page was answered elsewhere. */
export function Answered({ store }: { readonly store: Store }) {
  const board = store.board.value;
  const last = board?.last_closed ?? null;
  const key = `${last?.at} ${last?.summary}`;
  // What was answered before this page was there is no news.
  const known = useRef<string | undefined>(undefined);
  if (board !== undefined) known.current ??= key;
  const [hidden, setHidden] = useState('');
  const verdict = verdicts[last?.verdict ?? ''];
  const isNews =
    last !== null &&
    verdict !== undefined &&
    key !== known.current &&
    key !== hidden &&
    !isOwn(last.by, store.client.value);
  return (
    <p class={isNews ? 'answered' : undefined} role="status">
      {isNews && (
        <>
          <span dir="auto">{visible(last.summary)}</span> was {verdict} by {visible(byWords(last.by))}.{' '}
          <button type="button" onClick={() => setHidden(key)}>
            Close
          </button>
        </>
      )}
    </p>
  );
}

/** A page in a chat does not know the whole name of its client. */
function isOwn(by: string, client: string): boolean {
  return client === 'chat' ? by.startsWith('board/chat') : by === `board/${client}`;
}

function byWords(by: string): string {
  return by === 'caller' ? 'the chat' : by;
}
