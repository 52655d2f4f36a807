import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionError } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { visible } from '../text/words.js';
import { ErrorLine, useNow } from './parts.js';

/** Of a longer log the newest part stays; the file has all of it. */
const MAX_CHARS = 1_000_000;

/** The newest part of a task's log as it is in the project. It is read once a second: no message of the board says when a line was written. */
export function LogView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const [text, setText] = useState('');
  const [error, setError] = useState<ActionError>();
  const from = useRef<{ readonly cursor?: string }>({});
  const isReading = useRef(false);
  const nowMs = useNow(1_000);
  useEffect(() => {
    if (isReading.current) return;
    isReading.current = true;
    const read = async (): Promise<void> => {
      const outcome = await store.act({ type: 'log.read', task_id: taskId, ...from.current });
      setError(outcome.ok ? undefined : outcome.error);
      const page = outcome.ok ? outcome.log : undefined;
      if (page === undefined) return;
      from.current = { cursor: page.cursor };
      setText((before) => `${before}${page.text}`.slice(-MAX_CHARS));
      if (page.more) await read();
    };
    void read().finally(() => (isReading.current = false));
  }, [store, taskId, nowMs]);
  return (
    <>
      <ErrorLine error={error} />
      <pre class="block wrapped" tabIndex={0} role="log" aria-label="Log" dir="auto">
        {text === '' ? 'Nothing is logged yet.' : visible(text)}
      </pre>
    </>
  );
}
