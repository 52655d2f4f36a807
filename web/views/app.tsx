import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { openOf } from '../../src/board/state.js';
import { lazy } from '../lazy.js';
import type { Store } from '../store.js';
import { span } from '../text/words.js';
import { Board, leaveByKey } from './board.js';
import { useKeys } from './keys.js';
import { NEW_TASK, openNewTask, taskInLink } from './navigate.js';
import { useNotices } from './notices.js';
import { ownCommand, useNow } from './parts.js';

const TaskPage = lazy(async () => (await import('./task.js')).TaskPage, true);
const NewTask = lazy(async () => (await import('./new-task.js')).NewTask, true);
const TITLE = 'Claude Code Bridge';

/** The whole page: all tasks, and beside them the task that is open, or the form for a new one. */
export function App({ store }: { readonly store: Store }) {
  const isNew = useHash(store);
  useTitle(store);
  useNotices(store);
  useKeys({ n: () => leaveByKey(openNewTask) });
  const taskId = store.openTask.value;
  return (
    <div class={taskId === undefined && !isNew ? 'app' : 'app with-task'}>
      <Connection store={store} />
      <Board store={store}>
        {taskId !== undefined ? (
          <TaskPage key={taskId} of={{ store }} fallback={<main />} />
        ) : isNew ? (
          <NewTask of={{ store }} fallback={<main />} />
        ) : undefined}
      </Board>
    </div>
  );
}

/** Follows the address; gives whether it is that of the form for a new task. */
function useHash(store: Store): boolean {
  const [isNew, setIsNew] = useState(false);
  useEffect(() => {
    const follow = (): void => {
      store.open(taskInLink(location.hash));
      setIsNew(location.hash === NEW_TASK);
    };
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [store]);
  return isNew;
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

/** Whether what is seen is of now, and whether the page is of the same version as the board. */
function Connection({ store }: { readonly store: Store }) {
  const state = store.connection.value;
  const nowMs = useNow(500);
  const own = useRef('');
  own.current ||= store.version.value;
  if (state.how === 'open' && store.version.value !== own.current)
    return (
      <div class="connection" role="status">
        The board is another version: load this page again when nothing is left to send.
      </div>
    );
  if (state.how !== 'refused' && state.how !== 'lost') return null;
  const command = <code>{ownCommand('board')}</code>;
  return (
    <div class="connection" role="alert">
      {state.how === 'refused' ? (
        <>
          {state.why} Open a new link: run {command}
        </>
      ) : (
        <>
          The connection to the board is lost; what you see is from before. The next try is in{' '}
          {span((state.retryAtMs - nowMs) / 1000)}. Tasks continue meanwhile. If the board has ended, run{' '}
          {command}.
        </>
      )}
    </div>
  );
}
