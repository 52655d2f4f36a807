import { Component, type ComponentChildren, type ComponentProps } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionAnswer, ActionError, ClientAction } from '../../src/board/protocol.js';
import type { TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { machineOf } from '../text/machines.js';
import { projectName, visible } from '../text/words.js';

/** What has just appeared takes no yes: it may stand where something else was clicked. */
const INERT_MS = 500;

/** A command line that works for this installation, where the page knows it. */
export function ownCommand(words: string): string {
  const command = document.querySelector<HTMLMetaElement>('meta[name=command]')?.content;
  return `${command ?? 'claude-code-bridge'} ${words}`;
}

/** Where a task works: its machine, where that is another one, and the name of its project. */
export function Place({ task }: { readonly task: Pick<TaskCard, 'task_id' | 'project_path'> }) {
  const machine = machineOf(task);
  return (
    <>
      {machine !== undefined && <span class="machine">{machine}</span>}
      <span class="project">{visible(projectName(task.project_path))}</span>
    </>
  );
}

type ButtonProps = Omit<ComponentProps<'button'>, 'class' | 'disabled' | 'onClick' | 'type'> & {
  readonly act: () => void;
  /** Its classes: see the design sheet in docs/board.md. */
  readonly look?: string | undefined;
  readonly off?: boolean | undefined;
};

/** A button of no form. */
export function Button({ act, look, off, ...more }: ButtonProps) {
  return <button type="button" class={look} disabled={off} onClick={act} {...more} />;
}

/** Sentences of the bridge; what has backticks around it is a command. */
export function Prose({ text }: { readonly text: string }) {
  const parts = visible(text).split('`');
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** What went wrong, and what to do. */
export function ErrorLine({ error }: { readonly error: ActionError | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      <Prose text={error.message} />
      <span class="hint">
        <Prose text={error.hint} />
      </span>
    </p>
  );
}

interface BlockProps {
  readonly label: string;
  readonly text: string;
  readonly isWrapped?: boolean;
}

/** Text as it is; all of it can be scrolled to, with the keyboard too. */
export function Block({ label, text, isWrapped = false }: BlockProps) {
  return (
    <pre class={isWrapped ? 'block wrapped' : 'block'} tabIndex={0} aria-label={label} dir="auto">
      {visible(text)}
    </pre>
  );
}

/** How many lines came and went; nothing for none. */
export function Numbers({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="numbers">
      <span class="ok">{added > 0 && `+${added}`}</span>{' '}
      <span class="bad">{removed > 0 && `−${removed}`}</span>
    </span>
  );
}

interface GuardProps {
  /** What is shown, to begin a sentence with. */
  readonly what: string;
  readonly hint: string;
  readonly children: ComponentChildren;
}

interface GuardState {
  readonly why: string | undefined;
}

/** What cannot be shown takes nothing else of the page with it. */
export class Guard extends Component<GuardProps, GuardState> {
  static override getDerivedStateFromError(error: unknown): GuardState {
    return { why: error instanceof Error ? error.message : 'for a reason that is not known' };
  }

  override render({ what, hint, children }: GuardProps, { why }: GuardState): ComponentChildren {
    if (why === undefined) return children;
    return (
      <p class="error" role="alert">
        {what} cannot be shown ({visible(why)}). {hint}
      </p>
    );
  }
}

/** Sends what a button stands for, and knows what was refused. */
export function useAction(store: Store) {
  const [error, setError] = useState<ActionError | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const send = (action: ClientAction, onDone: (answer: ActionAnswer) => void = () => undefined): void => {
    setError(undefined);
    setIsBusy(true);
    void store.act(action).then((outcome) => {
      setIsBusy(false);
      if (outcome.ok) onDone(outcome);
      else setError(outcome.error);
    });
  };
  return { send, error, isBusy };
}

/** A ref for the field of a box that opens: it takes the focus, so that no letter that is typed then is a key of the page. */
export function useFocus<T extends HTMLElement>() {
  const field = useRef<T>(null);
  useEffect(() => field.current?.focus(), []);
  return field;
}

/** False for half a second after `key` changed. */
export function useLater(key: string): boolean {
  const [live, setLive] = useState<string | undefined>();
  useEffect(() => {
    const timer = setTimeout(() => setLive(key), INERT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return live === key;
}

/** The time, renewed while the page is seen. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNowMs(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
