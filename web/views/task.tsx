import { useState } from 'preact/hooks';
import { openOf } from '../../src/board/state.js';
import { lazy } from '../lazy.js';
import type { Store } from '../store.js';
import { homeOf } from '../text/machines.js';
import { driverWords, isNative, shortPath, visible } from '../text/words.js';
import { ChecksView } from './checks.js';
import { OpenDecisions } from './decisions.js';
import { LogView } from './log.js';
import { Block, ErrorLine, Guard, Button } from './parts.js';
import { useSurface, type TaskProps } from './surface.js';
import { Tabs } from './tabs.js';
import { BackLink, TaskHead } from './task-head.js';
import { NextBox } from './text-box.js';
import { Timeline } from './timeline.js';

/** What is not shown at first is loaded when it is; the emulator is six times the rest of the page. */
const TerminalView = lazy(async () => (await import('../terminal/terminal.js')).TerminalView);
const DiffView = lazy(async () => (await import('./diff.js')).DiffView, true);
const ReceiptView = lazy(async () => (await import('./receipt.js')).ReceiptView, true);
const ReplayView = lazy(async () => (await import('../replay/replay.js')).ReplayView);
const loading = <p class="empty loading">Loading…</p>;

interface PanelProps extends TaskProps {
  readonly onReplay: () => void;
  readonly onTerminal: () => void;
}

const panels = {
  Timeline,
  Changes: ({ store, task }: PanelProps) => (
    <DiffView of={{ store, taskId: task.task_id }} fallback={loading} />
  ),
  Terminal: TerminalTab,
  Replay: ({ store, state, task }: PanelProps) => (
    <ReplayView of={{ store, state, taskId: task.task_id }} fallback={loading} />
  ),
  Receipt: ({ state }: PanelProps) => <ReceiptView of={{ state }} fallback={loading} />,
  Log: ({ store, task }: PanelProps) => <LogView store={store} taskId={task.task_id} />,
  Prompt: PromptView,
} as const;
type Tab = keyof typeof panels;
const tabs = Object.keys(panels).filter((name): name is Tab => Object.hasOwn(panels, name));
/** The terminal of a session that a person started is the person's. */
const tabsOfNative = tabs.filter((tab) => tab !== 'Terminal' && tab !== 'Replay');

/** One task: what it asks, what it did, its terminal, and what a person can do. */
export function TaskPage({ store }: { readonly store: Store }) {
  const state = store.task.value;
  const error = store.taskError.value;
  if (error === undefined && state?.task != null)
    return <ShownTask store={store} state={state} task={state.task} />;
  const gone = <p class="empty">This task was removed: only the newest ended tasks stay.</p>;
  return (
    <main class="task">
      <BackLink />
      {error !== undefined ? <ErrorLine error={error} /> : state === undefined ? loading : gone}
    </main>
  );
}

function ShownTask({ store, state, task }: TaskProps) {
  const [tab, setTab] = useState<Tab>('Timeline');
  const { editor } = useSurface();
  const onTerminal = (): void =>
    editor === undefined ? setTab('Terminal') : editor.ask({ type: 'open-terminal', task_id: task.task_id });
  const counts = task.files_changed > 0 ? { Changes: task.files_changed } : {};
  const Panel = panels[tab];
  return (
    <main class="task">
      <TaskHead {...{ store, task, state, onTerminal }} />
      <OpenDecisions store={store} open={openOf(state.decisions)} />
      <Tabs names={isNative(task) ? tabsOfNative : tabs} counts={counts} current={tab} onChange={setTab} />
      <section id="tab-panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Guard key={tab} what="This view" hint="The other views and the log are not touched by it.">
          {(tab === 'Timeline' || tab === 'Receipt') && <ChecksView store={store} state={state} />}
          <Panel {...{ store, state, task, onTerminal }} onReplay={() => setTab('Replay')} />
        </Guard>
      </section>
      {!isNative(task) && <NextBox key={`${task.is_final}`} store={store} task={task} />}
    </main>
  );
}

/** A session that ends while it is watched stays as it was last. */
function TerminalTab({ store, task, onReplay, onTerminal }: PanelProps) {
  const [wasOver] = useState(task.is_final);
  const { editor } = useSurface();
  if (!wasOver && editor === undefined)
    return <TerminalView of={{ store, taskId: task.task_id }} fallback={loading} />;
  return (
    <div class="empty">
      {wasOver && <p>The task has ended, and its terminal with it.</p>}
      <Button act={wasOver ? onReplay : onTerminal}>
        {wasOver ? 'Replay what was in it' : 'Open the terminal'}
      </Button>
    </div>
  );
}

/** What it was asked to do, and how. */
function PromptView({ store, state, task }: PanelProps) {
  const facts = {
    Folder: shortPath(task.project_path, homeOf(task, store.board.value, store.home.value)),
    Runs: driverWords(task.driver),
    Created: new Date(task.created_at).toLocaleString(),
    Turns: String(task.turns),
  };
  return (
    <>
      <dl class="table-of">
        {Object.entries(facts).map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{visible(value)}</dd>
          </>
        ))}
      </dl>
      <Block label="Prompt" text={state.prompt} isWrapped />
    </>
  );
}
