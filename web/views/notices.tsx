import { useSignalEffect } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { openOf, type BoardState, type DecisionView } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { machineOf } from '../text/machines.js';
import { projectName, visible } from '../text/words.js';
import { keyOf } from './decisions.js';
import { openTaskPage } from './navigate.js';
import { Button } from './parts.js';

/** Asks the browser, at a click, whether this page may show notices; gone once that is answered. */
export function NoticesButton() {
  const [permission, setPermission] = useState('Notification' in window ? Notification.permission : 'denied');
  if (permission !== 'default') return null;
  return (
    <Button
      look="plain"
      title="Show a notice when a task asks and this page is not in sight"
      act={() => void Notification.requestPermission().then(setPermission)}
    >
      Notify me
    </Button>
  );
}

/** While the page is out of sight, each new question is a notice of the browser; it goes when the question is answered. */
export function useNotices(store: Store): void {
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  const shown = useRef(new Map<string, Notification>());
  useSignalEffect(() => {
    const board = store.board.value;
    if (board === undefined) return;
    const open = openOf(board.decisions);
    const keys = new Set(open.map(keyOf));
    for (const [key, notice] of shown.current) {
      if (keys.has(key)) continue;
      notice.close();
      shown.current.delete(key);
    }
    for (const decision of open) {
      const isNew = known.current !== undefined && !known.current.has(keyOf(decision));
      if (isNew && document.hidden && 'Notification' in window && Notification.permission === 'granted')
        shown.current.set(keyOf(decision), noticeOf(decision, board));
    }
    known.current = keys;
  });
}

function noticeOf(decision: DecisionView, board: BoardState): Notification {
  const project = projectName(board.tasks[decision.task_id]?.project_path ?? '');
  const machine = machineOf(decision);
  const where = machine === undefined ? '' : ` on ${machine}`;
  const notice = new Notification(`Claude Code asks in ${visible(project)}${where}`, {
    body: visible(decision.summary),
    tag: keyOf(decision),
  });
  notice.onclick = () => {
    focus();
    openTaskPage(decision.task_id);
    notice.close();
  };
  return notice;
}
