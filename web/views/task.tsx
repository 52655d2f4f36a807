import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { openOf, type TaskCard, type TaskState } from '../../src/board/state.js';
import { lazy } from '../lazy.js';
import type { Store } from '../store.js';
import { driverWords, isNative, shortPath, visible } from '../text/words.js';
import { ClosedDecisions, OpenDecisions } from './decisions.js';
import { LogView } from './log.js';
import { Block, ErrorLine, Guard, Button } from './parts.js';
import { useSurface } from './surface.js';
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

const tabs = ['Timeline', 'Changes', 'Terminal', 'Replay', 'Receipt', 'Log', 'Prompt'] as const;
type Tab = (typeof tabs)[number];
/** The terminal of a session that a person started is the person's. */
const tabsOfNative = tabs.filter((tab) => tab !== 'Terminal' && tab !== 'Replay');

/** One task: what it asks, what it did, its terminal, and what a person can do. */
export function TaskPage({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const state = store.task.value;
  const error = store.taskError.value;
  const only = (children: ComponentChildren) => (
    <main class="task">
      <BackLink />
      {children}
    </main>
  );
  if (error !== undefined) return only(<ErrorLine error={error} />);
  if (state === undefined) return only(loading);
  if (state.task === null)
    return only(<p class="empty">This task was removed: only the newest ended tasks stay.</p>);
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
  const { editor } = useSurface();
  const openTerminal = (): void =>
    editor === undefined ? setTab('Terminal') : editor.ask({ type: 'open-terminal', task_id: taskId });
  const counts = task.files_changed > 0 ? { Changes: task.files_changed } : {};
  return (
    <main class="task">
      <TaskHead store={store} task={task} state={state} onTerminal={openTerminal} />
      <OpenDecisions store={store} open={openOf(state.decisions)} />
      <Tabs names={isNative(task) ? tabsOfNative : tabs} counts={counts} current={tab} onChange={setTab} />
      <section id="tab-panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Guard key={tab} what="This view" hint="The other views and the log are not touched by it.">
          <TabPanel
            {...{ tab, store, state, task, taskId, openTerminal }}
            onReplay={() => setTab('Replay')}
          />
        </Guard>
      </section>
      {!isNative(task) && <NextBox key={`${task.is_final}`} store={store} task={task} />}
    </main>
  );
}

interface PanelProps extends ShownProps {
  readonly tab: Tab;
  readonly onReplay: () => void;
  readonly openTerminal: () => void;
}

function TabPanel({ tab, store, state, task, taskId, onReplay, openTerminal }: PanelProps) {
  switch (tab) {
    case 'Timeline':
      return (
        <>
          <Timeline state={state} />
          <ClosedDecisions state={state} />
        </>
      );
    case 'Changes':
      return <DiffView of={{ store, taskId }} fallback={loading} />;
    case 'Terminal':
      return <TerminalTab {...{ store, task, onReplay, openTerminal }} />;
    case 'Replay':
      return <ReplayView of={{ store, taskId, state }} fallback={loading} />;
    case 'Log':
      return <LogView store={store} taskId={taskId} />;
    case 'Receipt':
      return <ReceiptView of={{ state }} fallback={loading} />;
    case 'Prompt':
      return <PromptView {...{ store, state, task }} />;
  }
}

/** A session that ends while it is watched stays as it was last. */
function TerminalTab({ store, task, onReplay, openTerminal }: Omit<PanelProps, 'tab' | 'state' | 'taskId'>) {
  const [wasOver] = useState(task.is_final);
  const { editor } = useSurface();
  if (!wasOver && editor === undefined)
    return <TerminalView of={{ store, taskId: task.task_id }} fallback={loading} />;
  return (
    <div class="empty">
      {wasOver && <p>The task has ended, and its terminal with it.</p>}
      <Button act={wasOver ? onReplay : openTerminal}>
        {wasOver ? 'Replay what was in it' : 'Open the terminal'}
      </Button>
    </div>
  );
}

/** What it was asked to do, and how. */
function PromptView({ store, state, task }: Pick<ShownProps, 'store' | 'state' | 'task'>) {
  const facts = {
    Folder: shortPath(task.project_path, store.home.value),
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
