import { useSignalEffect } from '@preact/signals';
import { Suspense } from '../lazy.js';
import { useEffect, useState } from 'preact/hooks';
import { openOf } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { ownCommand } from '../text/own-command.js';
import { span } from '../text/words.js';
import type { ConnectionState } from '../transport/transport.js';
import { Overview } from './board.js';
import { Keys } from './keys.js';
import { useNotices } from './notices.js';
import { TaskPage } from '../parts.js';

const TASK_HASH = /^#\/(task_[0-9a-f]{20})$/;
const TITLE = 'Claude Code Bridge';

/** The whole page: the overview, and beside it the task that is open. */
export function App({ store }: { readonly store: Store }) {
  useHash(store);
  useTitle(store);
  useNotices(store);
  const taskId = store.openTask.value;
  return (
    <div class={taskId === undefined ? 'app' : 'app with-task'}>
      <Connection state={store.connection.value} />
      <Overview store={store} />
      {taskId !== undefined && (
        <Suspense fallback={<main class="task empty">Loading…</main>}>
          <TaskPage key={taskId} store={store} taskId={taskId} />
        </Suspense>
      )}
      <Keys />
    </div>
  );
}

let navigate = (taskId: string | undefined): void => {
  location.hash = taskId === undefined ? '#/' : `#/${taskId}`;
};

/** Opens tasks in another way, where the page has no address of its own. */
export function navigateBy(open: (taskId: string | undefined) => void): void {
  navigate = open;
}

export function openTaskPage(taskId: string | undefined): void {
  navigate(taskId);
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

function Connection({ state }: { readonly state: ConnectionState }) {
  const [nowMs, setNowMs] = useState(Date.now());
  const isLost = state.how === 'lost';
  useEffect(() => {
    if (!isLost) return undefined;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isLost]);
  if (state.how === 'open' || state.how === 'connecting') return null;
  return (
    <div class="connection" role="alert">
      {state.how === 'refused' ? (
        <>
          {state.why} Open a new link: run <code>{ownCommand('board')}</code>
        </>
      ) : (
        <>
          The connection to the board is lost; what you see is from before. It is tried again in{' '}
          {span(Math.max(0, (state.retryAtMs - nowMs) / 1000))}. Tasks go on meanwhile. If the board has
          ended, run <code>{ownCommand('board')}</code>.
        </>
      )}
    </div>
  );
}
