import { useState } from 'preact/hooks';
import { openOf, type TaskCard, type TaskState } from '../../src/board/state.js';
import { lazy } from '../lazy.js';
import type { Store } from '../store.js';
import { isNative } from '../text/words.js';
import { ClosedDecisions, OpenDecisions } from './decisions.js';
import { DiffView } from './diff.js';
import { LogView } from './log.js';
import { Block, ErrorLine, Guard } from './parts.js';
import { ReceiptView } from './receipt.js';
import { useSurface } from './surface.js';
import { Tabs } from './tabs.js';
import { BackLink, TaskHead } from './task-head.js';
import { NextBox } from './text-box.js';
import { Timeline } from './timeline.js';

/** The emulator is six times the rest of the page. */
const TerminalView = lazy(async () => (await import('../terminal/terminal.js')).TerminalView);
const ReplayView = lazy(async () => (await import('../replay/replay.js')).ReplayView);
const loading = <p class="empty">Loading…</p>;

const tabs = ['Timeline', 'Changes', 'Terminal', 'Replay', 'Log', 'Receipt', 'Prompt'] as const;
type Tab = (typeof tabs)[number];
/** The terminal of a session that a person started is the person's. */
const tabsOfNative = tabs.filter((tab) => tab !== 'Terminal' && tab !== 'Replay');

/** One task: what it asks, what it did, its terminal, and what a person can do. */
export function TaskPage({ store, taskId }: { readonly store: Store; readonly taskId: string }) {
  const state = store.task.value;
  const error = store.taskError.value;
  if (error !== undefined) {
    return (
      <main class="task">
        <ErrorLine error={error} />
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
  const open = openOf(state.decisions);
  return (
    <main class="task">
      <TaskHead store={store} task={task} state={state} />
      <OpenDecisions store={store} open={open} />
      <Tabs names={isNative(task) ? tabsOfNative : tabs} current={tab} onChange={setTab} />
      <section id="tab-panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Guard key={tab} what="This view" hint="The other views and the log are not touched by it.">
          <TabPanel tab={tab} store={store} state={state} taskId={taskId} onReplay={() => setTab('Replay')} />
        </Guard>
      </section>
      {!isNative(task) && <NextBox key={`${task.is_final}`} store={store} task={task} />}
    </main>
  );
}

interface PanelProps extends Omit<ShownProps, 'task'> {
  readonly tab: Tab;
  readonly onReplay: () => void;
}

function TabPanel({ tab, store, state, taskId, onReplay }: PanelProps) {
  switch (tab) {
    case 'Timeline':
      return (
        <>
          <Timeline state={state} />
          <ClosedDecisions state={state} />
        </>
      );
    case 'Changes':
      return <DiffView store={store} taskId={taskId} />;
    case 'Terminal':
      return (
        <TerminalTab
          store={store}
          taskId={taskId}
          hasEnded={state.task?.is_final === true}
          onReplay={onReplay}
        />
      );
    case 'Replay':
      return <ReplayView of={{ store, taskId, state }} fallback={loading} />;
    case 'Log':
      return <LogView store={store} taskId={taskId} />;
    case 'Receipt':
      return <ReceiptView state={state} />;
    case 'Prompt':
      return <Block label="Prompt" text={state.prompt} isWrapped />;
  }
}

interface TerminalTabProps {
  readonly store: Store;
  readonly taskId: string;
  readonly hasEnded: boolean;
  readonly onReplay: () => void;
}

/** A session that ends while it is watched stays as it was last. */
function TerminalTab({ store, taskId, hasEnded, onReplay }: TerminalTabProps) {
  const [wasOver] = useState(hasEnded);
  const { editor } = useSurface();
  if (wasOver)
    return (
      <p class="empty">
        The task has ended, and its terminal with it.{' '}
        <button type="button" onClick={onReplay}>
          Replay what was in it
        </button>
      </p>
    );
  if (editor === undefined) return <TerminalView of={{ store, taskId }} fallback={loading} />;
  return (
    <p class="empty">
      <button type="button" onClick={() => editor.ask({ type: 'open-terminal', task_id: taskId })}>
        Open the terminal
      </button>
    </p>
  );
}
