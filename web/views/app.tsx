import { useSignalEffect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { openOf } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { ownCommand, span } from '../text/words.js';
import { Overview } from './board.js';
import { useKeys } from './keys.js';
import { useNotices } from './notices.js';
import { useNow } from './parts.js';
import { TaskPage } from './task.js';

const TASK_HASH = /^#\/(task_[0-9a-f]{20})$/;
const TITLE = 'Claude Code Bridge';
/** How long it is said that a connection is back. */
const BACK_MS = 10_000;

/** The whole page: the overview, and beside it the task that is open. */
export function App({ store }: { readonly store: Store }) {
  useHash(store);
  useTitle(store);
  useNotices(store);
  useKeys();
  const taskId = store.openTask.value;
  return (
    <div class={taskId === undefined ? 'app' : 'app with-task'}>
      <Connection store={store} />
      <Overview store={store} />
      {taskId !== undefined && <TaskPage key={taskId} store={store} taskId={taskId} />}
    </div>
  );
}

function useHash(store: Store): void {
  useEffect(() => {
    const follow = (): void => store.open(TASK_HASH.exec(location.hash)?.[1]);
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [store]);
}

/** Title and icon count what waits, for who looks at another page. */
function useTitle(store: Store): void {
  useSignalEffect(() => {
    const waiting = openOf(store.board.value?.decisions ?? {}).length;
    document.title = waiting === 0 ? TITLE : `(${waiting}) ${TITLE}`;
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', iconFor(waiting));
  });
}

function iconFor(waiting: number): string {
  if (waiting === 0) return '/icon.svg';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b4532a"/><text x="16" y="23" font-family="sans-serif" font-weight="bold" font-size="20" text-anchor="middle" fill="#fff">${Math.min(waiting, 99)}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Whether what is seen is of now: that the connection is lost, and for a while that it is back. */
function Connection({ store }: { readonly store: Store }) {
  const state = store.connection.value;
  const nowMs = useNow(500);
  /** The version of the board that was lost. */
  const [lost, setLost] = useState<string | undefined>();
  const isNewer = lost !== undefined && lost !== store.version.value;
  useEffect(() => {
    if (state.how === 'lost') setLost((before) => before ?? store.version.value);
    if (state.how !== 'open' || isNewer) return undefined;
    const timer = setTimeout(() => setLost(undefined), BACK_MS);
    return () => clearTimeout(timer);
  }, [state.how, isNewer]);
  if (state.how === 'connecting' || (state.how === 'open' && lost === undefined)) return null;
  return (
    <div class="connection" role={state.how === 'open' ? 'status' : 'alert'}>
      {state.how === 'open' && 'The connection to the board is back; what you see is of now.'}
      {state.how === 'open' &&
        isNewer &&
        ` The board is another version: load this page again when nothing is left to send.`}
      {state.how === 'refused' && (
        <>
          {state.why} Open a new link: run <code>{ownCommand('board')}</code>
        </>
      )}
      {state.how === 'lost' && (
        <>
          The connection to the board is lost; what you see is from before. It is tried again in{' '}
          {span((state.retryAtMs - nowMs) / 1000)}. Tasks go on meanwhile. If the board has ended, run{' '}
          <code>{ownCommand('board')}</code>.
        </>
      )}
    </div>
  );
}
