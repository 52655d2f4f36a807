import { signal, useSignalEffect, type Signal } from '@preact/signals';
import { render } from 'preact';
import { ANY_TASK_ID_PATTERN } from '../../src/base/ids.js';
import { openOf, type DecisionView } from '../../src/board/state.js';
import { Store } from '../store.js';
import { isFields } from '../text/fields.js';
import { machineOf, unverifiable } from '../text/machines.js';
import { statusLook, statusWords, titleOf, visible } from '../text/words.js';
import { ChatLink } from '../transport/chat.js';
import { keyOf, OpenDecisions } from '../views/decisions.js';
import { Connection, startApp, tellingModel } from './chat.js';
import type { Host, ToolAnswer } from './host.js';

/** With an old call its answer comes at once, and may make a read needless. */
const RESULT_MS = 250;
const ELSEWHERE = 'It was answered elsewhere, or its time was over.';
const verdictWords = {
  allow: 'You allowed it.',
  allow_session: 'You allowed it for the session.',
  deny: 'You denied it.',
};

/** The card of one call: what the tasks ask that its caller waits for. */
interface Card {
  readonly taskIds: readonly string[];
  readonly store: Store;
  readonly link: ChatLink;
  /** The call has been answered. */
  readonly isOver: Signal<boolean>;
  /** The questions that were shown here, and what became of each. */
  readonly shown: Signal<ReadonlyMap<string, { readonly summary: string; readonly end: string }>>;
}

function DecisionApp({ store, link, taskIds, shown, isOver }: Card) {
  const openNow = (): DecisionView[] =>
    openOf(store.board.value?.decisions ?? {}).filter(({ task_id }) => taskIds.includes(task_id));
  const open = openNow();
  useSignalEffect(() => {
    const now = openNow();
    const fresh = now.filter((one) => !shown.peek().has(keyOf(one)));
    if (fresh.length > 0)
      shown.value = new Map([
        ...shown.peek(),
        ...fresh.map((one) => [keyOf(one), { summary: one.summary, end: ELSEWHERE }] as const),
      ]);
    // Nothing is asked any more: nothing will change here.
    if (isOver.value && store.board.value !== undefined && now.length === 0) link.stop();
  });
  const closed = [...shown.value].filter(([key]) => !open.some((one) => keyOf(one) === key));
  return (
    <main class="chat-card">
      <Connection store={store} />
      <OpenDecisions
        store={store}
        open={open}
        above={({ task_id }) => <TaskWords store={store} taskId={task_id} />}
      />
      {closed.map(([key, { summary, end }]) => (
        <p key={key} class="quiet" dir="auto">
          {visible(summary)}: {end}
        </p>
      ))}
      {open.length === 0 &&
        taskIds.map((taskId) => (
          <p key={taskId} class="quiet" dir="auto">
            <TaskWords store={store} taskId={taskId} />
          </p>
        ))}
    </main>
  );
}

function TaskWords({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const task = store.board.value?.tasks[taskId];
  if (task === undefined) return <code>{taskId}</code>;
  const cut = unverifiable(task, store.board.value);
  const look = cut === undefined ? statusLook(task, false) : 'idle';
  const machine = machineOf(task);
  return (
    <span dir="auto">
      <span class={`pill ${look}`}>{cut ?? statusWords(task, look)}</span>
      {machine !== undefined && <span class="machine">{machine}</span>}
      <strong>{titleOf(task)}</strong>
    </span>
  );
}

function openCard(host: Host, isOver: Signal<boolean>, taskIds: readonly string[]): Card {
  const tell = tellingModel(host, () => store);
  const shown: Card['shown'] = signal(new Map());
  const link = new ChatLink(host, {
    tasks: taskIds,
    firstReadMs: RESULT_MS,
    doing: (action) => {
      const told = tell(action);
      return () => {
        told();
        if (action.type !== 'decision.answer') return;
        const { summary = action.decision_id } = shown.peek().get(keyOf(action)) ?? {};
        const end = action.answers === undefined ? verdictWords[action.verdict] : 'You answered it.';
        shown.value = new Map([...shown.peek(), [keyOf(action), { summary, end }]]);
      };
    },
  });
  const store: Store = new Store(link.open);
  return { taskIds, store, link, isOver, shown };
}

/** True for an answer that says itself that nothing is asked: an old one is shown without reading anything. */
function isQuiet({ isError, fields: { tasks } }: ToolAnswer): boolean {
  const asks = (task: unknown): boolean =>
    isFields(task) && Array.isArray(task['decisions']) && task['decisions'].length > 0;
  return isError || (Array.isArray(tasks) && !tasks.some(asks));
}

void startApp('decision', (host, root) => {
  const isOver = signal(false);
  let card: Card | undefined;
  host.onInput = ({ task_ids }) => {
    const given: readonly unknown[] = Array.isArray(task_ids) ? task_ids : [];
    const taskIds = given.map(String).filter((id) => ANY_TASK_ID_PATTERN.test(id));
    if (card !== undefined || taskIds.length === 0) return;
    card = openCard(host, isOver, taskIds);
    render(<DecisionApp {...card} />, root);
  };
  host.onResult = (answer) => {
    isOver.value = true;
    if (isQuiet(answer)) card?.link.stop();
  };
});
