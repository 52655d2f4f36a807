import type { Terminal } from '@xterm/xterm';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { frameKinds } from '../../src/board/frame.js';
import type { Store } from '../store.js';
import { cutWords, machineOf } from '../text/machines.js';
import { visible } from '../text/words.js';
import { ErrorLine, useAction, Button } from '../views/parts.js';
import { openEmulator } from './emulator.js';

const SCROLLBACK_LINES = 5_000;
const RESIZE_QUIET_MS = 150;
const READ_LATER_MS = 100;
const MIN_COLUMNS = 60;
const MIN_ROWS = 16;
const MAX_COLUMNS = 300;
const MAX_ROWS = 120;
/** Of the place, on both sides together. */
const PADDING = 16;
const SCROLL_BAR = 14;
const FALLBACK_CELL = { width: 8, height: 16 };

/** The live terminal of a task: read-only until this page takes the keyboard. */
export function TerminalView({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [shown, setShown] = useState<Terminal>();
  const { send, error } = useAction(store);
  const state = store.terminal.value;
  const isWriter = state?.writer === store.client.value;
  const cut = cutWords(machineOf({ task_id: taskId }), store.board.value);
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
    send({ type: 'term.claim', task_id: taskId, ...fitted(shown, place.current) });
  };
  const release = (): void => void store.act({ type: 'term.release', task_id: taskId });
  return (
    <div class="terminal-view">
      <div class="terminal-bar">
        <span class="quiet" role="status">
          {cut === undefined ? barWords(state, store.client.value) : `${cut}; what you see is from before.`}
        </span>
        {state?.closed === null && (
          <Button key={String(isWriter)} ref={button} act={isWriter ? release : claim}>
            {isWriter ? 'Give the keyboard back' : 'Take the keyboard'}
          </Button>
        )}
      </div>
      <ErrorLine error={error} />
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
function openTerminal(store: Store, taskId: string, place: HTMLElement): ReturnType<typeof openEmulator> {
  const { terminal, dispose } = openEmulator(place, SCROLLBACK_LINES);
  terminal.onData((data) => {
    const keys = btoa(String.fromCharCode(...new TextEncoder().encode(data)));
    void store.act({ type: 'term.input', task_id: taskId, keys });
  });
  // xterm has sent the letter. What a screen reader follows gets it later: a frame for that alone would hold up the echo.
  terminal.onKey(({ domEvent }) => {
    if (domEvent.type !== 'keydown' || domEvent.key.length !== 1) return;
    domEvent.preventDefault();
    const write = (): boolean =>
      document.activeElement === terminal.textarea && document.execCommand('insertText', false, domEvent.key);
    setTimeout(write, READ_LATER_MS);
  });
  let shownBytes = 0;
  const close = store.openTerminal(taskId, ({ kind, offset, bytes }) => {
    if (offset === 0) shownBytes = 0;
    if (kind === frameKinds.state) terminal.reset();
    if (kind === frameKinds.picture) terminal.write('\x1b[2J\x1b[H');
    terminal.write(bytes, () => {
      shownBytes += bytes.length;
      store.acknowledge(`term:/${taskId}`, shownBytes);
    });
  });
  return {
    terminal,
    dispose: () => {
      close();
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

/** The size in which a terminal fills its place; not so small that dialogs are cut off. */
function fitted({ cols, rows }: Terminal, place: HTMLElement): { columns: number; rows: number } {
  const { width = 0, height = 0 } = place.querySelector('.xterm-screen')?.getBoundingClientRect() ?? {};
  const cell = width === 0 ? FALLBACK_CELL : { width: width / cols, height: height / rows };
  const clamp = (value: number, min: number, max: number): number =>
    Math.min(max, Math.max(min, Math.floor(value)));
  return {
    columns: clamp((place.clientWidth - PADDING - SCROLL_BAR) / cell.width, MIN_COLUMNS, MAX_COLUMNS),
    rows: clamp((place.clientHeight - PADDING) / cell.height, MIN_ROWS, MAX_ROWS),
  };
}
