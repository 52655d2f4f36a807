import type { Terminal } from '@xterm/xterm';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { frameKinds } from '../../src/board/frame-kinds.js';
import type { ActionError } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { fitted } from './fitted.js';
import { openEmulator } from './open-emulator.js';

const SCROLLBACK_LINES = 5_000;
const RESIZE_QUIET_MS = 150;

/** The live terminal of a task: read-only until this page takes the keyboard. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [shown, setShown] = useState<Terminal>();
  const [error, setError] = useState<ActionError>();
  const state = store.terminal.value;
  const isWriter = state?.writer === store.client.value;
  useEffect(() => {
    if (place.current === null) return undefined;
    const { terminal, dispose } = openTerminal(store, taskId, place.current);
    terminal.attachCustomKeyEventHandler((event) => !leavesTerminal(event, button.current));
    setShown(terminal);
    return dispose;
  }, [store, taskId]);
  // With the words above the terminal: who reads them and types at once is heard.
  useLayoutEffect(() => {
    if (shown === undefined || state === undefined) return;
    shown.options.disableStdin = !isWriter;
    if (isWriter) shown.focus();
    else shown.resize(state.columns, state.rows);
  }, [shown, isWriter, state?.columns, state?.rows]);
  useWriterSize(store, taskId, isWriter ? shown : undefined, place);
  const claim = (): void => {
    if (shown === undefined || place.current === null) return;
    const size = fitted(shown, place.current);
    void store.act({ type: 'term.claim', task_id: taskId, ...size }).then((outcome) => {
      setError(outcome.ok ? undefined : outcome.error);
    });
  };
  return (
    <div class="terminal-view">
      <div class="terminal-bar">
        <span class="quiet" role="status">
          {barWords(state, store.client.value)}
        </span>
        {state?.closed === null &&
          (isWriter ? (
            <button
              key="release"
              ref={button}
              type="button"
              onClick={() => void store.act({ type: 'term.release', task_id: taskId })}
            >
              Give the keyboard back
            </button>
          ) : (
            <button key="claim" ref={button} type="button" onClick={claim}>
              Take the keyboard
            </button>
          ))}
      </div>
      {error !== undefined && (
        <p class="error" role="alert">
          {visible(error.message)} {visible(error.hint)}
        </p>
      )}
      <div
        class={isWriter ? 'terminal-place writing' : 'terminal-place'}
        ref={place}
        onDblClick={isWriter ? undefined : claim}
      />
    </div>
  );
}

function barWords(state: Store['terminal']['value'], client: string): string {
  if (state === undefined) return 'Connecting…';
  if (state.closed !== null) return visible(state.closed);
  if (state.writer === client) return 'Your keys go to the session. Shift+Tab leaves the terminal.';
  return state.writer === null ? 'You only watch.' : `${state.writer} has the keyboard; you only watch.`;
}

/** The one key that is not for the session: it goes to the button above, as it does elsewhere in a page. */
function leavesTerminal(event: KeyboardEvent, button: HTMLElement | null): boolean {
  if (event.key !== 'Tab' || !event.shiftKey) return false;
  event.preventDefault();
  if (event.type === 'keydown') button?.focus();
  return true;
}

/** A terminal that shows what comes, and sends what is typed. */
function openTerminal(
  store: Store,
  taskId: string,
  place: HTMLElement,
): { terminal: Terminal; dispose: () => void } {
  const { terminal, dispose } = openEmulator(place, SCROLLBACK_LINES);
  const typed = terminal.onData((data) => {
    const keys = btoa(String.fromCharCode(...new TextEncoder().encode(data)));
    void store.act({ type: 'term.input', task_id: taskId, keys });
  });
  let shownBytes = 0;
  const close = store.openTerminal(taskId, ({ kind, offset, bytes }) => {
    if (offset === 0) shownBytes = 0;
    if (kind === frameKinds.state) terminal.reset();
    if (kind === frameKinds.picture) terminal.write('\x1b[2J\x1b[H');
    terminal.write(bytes, () => {
      shownBytes += bytes.length;
      store.acknowledge(taskId, shownBytes);
    });
  });
  return {
    terminal,
    dispose: () => {
      close();
      typed.dispose();
      dispose();
    },
  };
}

/** While this page writes, the session has the size of the page. */
function useWriterSize(
  store: Store,
  taskId: string,
  terminal: Terminal | undefined,
  place: { readonly current: HTMLDivElement | null },
): void {
  useEffect(() => {
    const element = place.current;
    if (terminal === undefined || element === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fit = (): void => {
      const size = fitted(terminal, element);
      if (size.columns === terminal.cols && size.rows === terminal.rows) return;
      terminal.resize(size.columns, size.rows);
      void store.act({ type: 'term.resize', task_id: taskId, ...size });
    };
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(fit, RESIZE_QUIET_MS);
    });
    observer.observe(element);
    fit();
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [terminal, taskId]);
}
