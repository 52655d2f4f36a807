import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionError, ClientAction } from '../../src/board/protocol.js';
import { openOf, type TaskCard, type TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { age, shortPath, span } from '../text/words.js';
import { openTaskPage } from './app.js';
import { ClosedDecision } from './closed-decision.js';
import { Guard } from './guard.js';
import { OpenDecision } from './open-decision.js';
import { placeOf } from './place-of.js';
import { onKey } from './keys.js';
import { ReceiptView } from './receipt.js';
import { Block } from './request.js';
import { Timeline } from './timeline.js';
import { useNow } from './use-now.js';

/** Loaded when changes are shown. */
const DiffView = lazy(async () => (await import('./diff.js')).DiffView);
/** The emulator is six times the rest of the page: it is loaded when a terminal is shown. */
const TerminalView = lazy(async () => (await import('../terminal/terminal.js')).TerminalView);

const ReplayView = lazy(async () => (await import('../replay/replay.js')).ReplayView);

/** Loaded when the log is shown. */
const LogView = lazy(async () => (await import('./log.js')).LogView);

const tabs = ['Timeline', 'Changes', 'Terminal', 'Replay', 'Log', 'Receipt', 'Prompt'] as const;
type Tab = (typeof tabs)[number];

/** One task: what it asks, what it did, its terminal, and what a person can do. */
export function TaskPage({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const state = store.task.value;
  const error = store.taskError.value;
  if (error !== undefined) {
    return (
      <main class="task">
        <p class="error" role="alert">
          {visible(error.message)} {visible(error.hint)}
        </p>
        <BackLink />
      </main>
    );
  }
  if (state === undefined) return <main class="task empty">Loading…</main>;
  if (state.task === null) {
    return (
      <main class="task">
        <p class="empty">This task was removed: only the newest ended tasks stay.</p>
        <BackLink />
      </main>
    );
  }
  return <ShownTask store={store} state={state} task={state.task} taskId={taskId} />;
}

interface ShownProps {
  readonly store: Store;
  readonly state: TaskState;
  readonly task: TaskCard;
  readonly taskId: string;
}

function ShownTask({ store, state, task, taskId }: ShownProps) {
  const [tab, setTab] = useState<Tab>('Timeline');
  useEffect(() => {
    const offs = tabs.map((name, at) => onKey(`${at + 1}`, () => setTab(name)));
    return () => offs.forEach((off) => off());
  }, []);
  const open = openOf(state.decisions);
  return (
    <main class="task">
      <TaskHead store={store} task={task} />
      {open.map((decision, at) => (
        <OpenDecision
          key={decision.decision_id}
          {...{ store, decision }}
          hasKeys={at === 0}
          place={placeOf(open, at)}
        />
      ))}
      <div class="tabs" role="tablist" aria-label="Views of the task">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="tab-panel"
            onClick={() => setTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <section id="tab-panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Guard key={tab} what="This view" hint="The other views and the log are not touched by it.">
          <TabPanel tab={tab} store={store} state={state} taskId={taskId} />
        </Guard>
      </section>
      {!task.is_final && <MessageBox store={store} taskId={taskId} />}
    </main>
  );
}

function TabPanel({ tab, store, state, taskId }: Omit<ShownProps, 'task'> & { readonly tab: Tab }) {
  switch (tab) {
    case 'Timeline':
      return (
        <>
          <Timeline state={state} />
          <ClosedDecisions state={state} />
        </>
      );
    case 'Changes':
      return (
        <Suspense fallback={<p class="empty">Loading…</p>}>
          <DiffView store={store} taskId={taskId} />
        </Suspense>
      );
    case 'Terminal':
      return (
        <Suspense fallback={<p class="empty">Loading the terminal…</p>}>
          <TerminalView store={store} taskId={taskId} />
        </Suspense>
      );
    case 'Replay':
      return (
        <Suspense fallback={<p class="empty">Loading the replay…</p>}>
          <ReplayView store={store} taskId={taskId} />
        </Suspense>
      );
    case 'Log':
      return (
        <Suspense fallback={<p class="empty">Loading…</p>}>
          <LogView store={store} taskId={taskId} />
        </Suspense>
      );
    case 'Receipt':
      return <ReceiptView state={state} />;
    case 'Prompt':
      return <Block label="Prompt" text={state.prompt} isWrapped />;
  }
}

function ClosedDecisions({ state }: { readonly state: TaskState }) {
  const closed = Object.values(state.decisions)
    .filter((one) => one.closed !== null)
    .sort((a, b) => (a.closed?.at ?? '').localeCompare(b.closed?.at ?? ''));
  if (closed.length === 0) return null;
  return (
    <details class="closed-decisions">
      <summary>Answered questions ({closed.length})</summary>
      <ul>
        {closed.map((one) => (
          <ClosedDecision key={one.decision_id} decision={one} />
        ))}
      </ul>
    </details>
  );
}

function TaskHead({ store, task }: { readonly store: Store; readonly task: TaskCard }) {
  const nowMs = useNow(1_000);
  return (
    <header class="task-head">
      <BackLink />
      <h2 dir="auto">{visible(task.prompt_summary)}</h2>
      <p class="facts">
        <span class={`status ${task.status}`}>{task.status}</span>{' '}
        <span dir="auto">{visible(task.reason === '' ? task.activity : task.reason)}</span>
      </p>
      <p class="facts quiet">
        <span>{visible(shortPath(task.project_path, store.home.value))}</span>
        <span>
          {task.is_final ? `took ${span(task.elapsed_seconds)}, ${age(task, nowMs)}` : age(task, nowMs)}
        </span>
        <span>{task.model === null ? task.driver : `${visible(task.model)}, ${task.driver}`}</span>
        <span>{task.permission_mode}</span>
        <span>
          {task.turns} {task.turns === 1 ? 'turn' : 'turns'}
        </span>
        {task.branch !== null && <span>{visible(task.branch)}</span>}
        {task.queue_position !== null && <span>place {task.queue_position} in the queue</span>}
        <code>{task.task_id}</code>
      </p>
      <TaskActions store={store} task={task} />
    </header>
  );
}

function TaskActions({ store, task }: { readonly store: Store; readonly task: TaskCard }) {
  const [isEnding, setIsEnding] = useState(false);
  const [reason, setReason] = useState('');
  const { send, error } = useAction(store);
  const { task_id } = task;
  const hasWorktree = task.branch !== null && task.worktree_result === null && task.is_final;
  return (
    <div class="actions">
      {!task.is_final && task.status !== 'pending' && (
        <button type="button" onClick={() => send({ type: 'task.interrupt', task_id })}>
          Interrupt
        </button>
      )}
      {!task.is_final && !isEnding && (
        <button type="button" class="deny" onClick={() => setIsEnding(true)}>
          Kill…
        </button>
      )}
      {isEnding && !task.is_final && (
        <form
          class="ending"
          onSubmit={(event) => {
            event.preventDefault();
            send({ type: 'task.kill', task_id, reason });
          }}
        >
          <input
            type="text"
            dir="auto"
            autoFocus
            placeholder="Why? (for its record)"
            aria-label="Why the task is killed"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button type="submit" class="deny">
            Kill it
          </button>
          <button type="button" onClick={() => setIsEnding(false)}>
            Keep it
          </button>
        </form>
      )}
      {hasWorktree &&
        (['merge', 'apply', 'discard'] as const).map((action) => (
          <button key={action} type="button" onClick={() => send({ type: 'task.finish', task_id, action })}>
            {finishWords[action]}
          </button>
        ))}
      {task.worktree_result !== null && <span class="quiet">{visible(task.worktree_result)}</span>}
      <ErrorLine error={error} />
    </div>
  );
}

const finishWords = {
  merge: 'Merge its branch',
  apply: 'Apply as uncommitted changes',
  discard: 'Discard its work',
} as const;

function MessageBox({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const [text, setText] = useState('');
  const { send, error, isBusy } = useAction(store);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => onKey('m', () => input.current?.focus()), []);
  const submit = (): void => {
    if (text.trim() === '' || isBusy) return;
    send({ type: 'task.message', task_id: taskId, text }, () => setText(''));
  };
  return (
    <form
      class="message"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={input}
        dir="auto"
        rows={2}
        placeholder="Message to the session (Ctrl+Enter sends)"
        aria-label="Message to the session"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button type="submit" disabled={text.trim() === '' || isBusy}>
        Send
      </button>
      <ErrorLine error={error} />
    </form>
  );
}

/** Sends what a button stands for, and shows what was refused. */
function useAction(store: Store) {
  const [error, setError] = useState<ActionError | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const send = (action: ClientAction, onDone: () => void = () => undefined): void => {
    setError(undefined);
    setIsBusy(true);
    void store.act(action).then((outcome) => {
      setIsBusy(false);
      if (outcome.ok) onDone();
      else setError(outcome.error);
    });
  };
  return { send, error, isBusy };
}

function ErrorLine({ error }: { readonly error: ActionError | undefined }) {
  if (error === undefined) return null;
  return (
    <p class="error" role="alert">
      {visible(error.message)} {visible(error.hint)}
    </p>
  );
}

function BackLink() {
  return (
    <button type="button" class="back" onClick={() => openTaskPage(undefined)}>
      ← All tasks
    </button>
  );
}
