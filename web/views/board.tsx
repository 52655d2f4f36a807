import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { openOf, type BoardState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { cutWords } from '../text/machines.js';
import { titleOf, visible } from '../text/words.js';
import { OpenDecisions } from './decisions.js';
import { groupsOf, isShown, shownKinds, type Group, type Shown } from './groups.js';
import { useKeys } from './keys.js';
import { openTaskPage } from './navigate.js';
import { ownCommand, Place, useNow, Button } from './parts.js';
import { useSurface } from './surface.js';
import { TaskRow } from './task-row.js';

const NOW_MS = 1_000;
/** Ended tasks beyond these are shown on demand. */
const FIRST_ENDED = 30;

interface BoardProps {
  readonly store: Store;
  /** What is open beside the list; without it, what is asked now. */
  readonly children?: ComponentChildren;
}

/** Every task, grouped by what needs a person first, and beside them what is open. */
export function Board({ store, children }: BoardProps) {
  const board = store.board.value;
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<Shown>('all');
  const nowMs = useNow(NOW_MS);
  const all = board === undefined ? [] : groupsOf(board, search, nowMs);
  const groups = all.filter(({ name }) => isShown(name, shown));
  const unreadable = Object.entries(board?.unreadable ?? {});
  const cut = Object.keys(board?.machines ?? {}).filter((name) => cutWords(name, board) !== undefined);
  const hasAny = board !== undefined && Object.keys(board.tasks).length + unreadable.length + cut.length > 0;
  useListKeys(groups, store.openTask.value);
  const showAll = (): void => {
    setSearch('');
    setShown('all');
  };
  return (
    <>
      <TopBar {...{ search, setSearch, shown, setShown }} groups={all} />
      {children ?? <Home store={store} />}
      {(hasAny || board?.history != null) && (
        <nav class="list" aria-label="Tasks">
          {cut.map((name) => (
            <CutLine key={name} {...{ name, board }} />
          ))}
          {groups.map((group) => (
            <TaskGroup key={group.name} {...{ store, board, group, nowMs }} />
          ))}
          {unreadable.length > 0 && (
            <section class="group" aria-label="Unreadable">
              <h3>Unreadable</h3>
              {unreadable.map(([id, why]) => (
                <p key={id} class="quiet">
                  {id}: {visible(why)}
                </p>
              ))}
            </section>
          )}
          {board.history !== null && <p class="quiet">{board.history}</p>}
          {groups.length === 0 && (
            <p class="quiet">
              No matching tasks.{' '}
              <Button look="small" act={showAll}>
                Show all
              </Button>
            </p>
          )}
        </nav>
      )}
    </>
  );
}

/** Why nothing new comes from a machine. */
function CutLine({ name, board }: { readonly name: string; readonly board: BoardState }) {
  const machine = board.machines[name];
  return (
    <p class="cut" role="status" title={visible(machine?.why ?? '')}>
      <span class="machine">{name}</span> {cutWords(name, board)};{' '}
      {machine?.as_of == null ? 'its tasks were not read yet' : 'what runs there runs on'}
    </p>
  );
}

interface BarProps {
  readonly search: string;
  readonly setSearch: (search: string) => void;
  readonly shown: Shown;
  readonly setShown: (shown: Shown) => void;
  readonly groups: readonly Group[];
}

function TopBar({ search, setSearch, shown, setShown, groups }: BarProps) {
  const { HeadActions } = useSurface();
  const input = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => input.current?.focus() });
  const countOf = (kind: Shown): number =>
    groups.reduce((sum, { name, tasks }) => sum + (isShown(name, kind) ? tasks.length : 0), 0);
  return (
    <header class="bar">
      <h1 class="brand">
        <svg viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
          <path d="M0 13V9a8 6 0 0 1 16 0v4h-3a5 4 0 0 0-10 0z" />
        </svg>
        Tasks
      </h1>
      <input
        ref={input}
        type="search"
        class="search"
        placeholder="Search tasks, projects, words…   /"
        aria-label="Search tasks"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          setSearch('');
          event.currentTarget.blur();
        }}
      />
      <div class="switch" role="group" aria-label="Shown tasks">
        {shownKinds.map(([kind, label]) => (
          <Button key={kind} aria-pressed={shown === kind} act={() => setShown(kind)}>
            {label} {kind !== 'all' && countOf(kind)}
          </Button>
        ))}
      </div>
      <span class="grow" />
      {HeadActions !== undefined && <HeadActions />}
    </header>
  );
}

/** What is asked now, where no task is open. */
function Home({ store }: { readonly store: Store }) {
  const board = store.board.value;
  const open = openOf(board?.decisions ?? {});
  return (
    <main class="home" aria-label={open.length > 0 ? 'Questions' : undefined}>
      {board === undefined ? (
        store.connection.value.how !== 'refused' && <p class="empty loading">Loading…</p>
      ) : open.length > 0 ? (
        <OpenDecisions {...{ store, open }} above={({ task_id }) => <TaskLink {...{ board, task_id }} />} />
      ) : (
        <NothingAsked hasTasks={Object.keys(board.tasks).length > 0} />
      )}
    </main>
  );
}

function NothingAsked({ hasTasks }: { readonly hasTasks: boolean }) {
  const { editor } = useSurface();
  const command = <code>{ownCommand('run "…"')}</code>;
  return (
    <div class={hasTasks ? 'empty idle' : 'empty'}>
      <p class="title">{hasTasks ? 'Nothing waits for you.' : 'No tasks yet.'}</p>
      {hasTasks ? (
        <p>Choose a task to see what it did. What a task asks appears here.</p>
      ) : (
        <p>
          Press “New task”, ask your chat client to delegate something
          {editor === undefined && <>, or run {command} in a project</>}.
        </p>
      )}
    </div>
  );
}

function TaskLink({ board, task_id }: { readonly board: BoardState; readonly task_id: string }) {
  const task = board.tasks[task_id];
  if (task === undefined) return null;
  return (
    <a class="task-link" href={`#/${task_id}`}>
      <strong dir="auto">{titleOf(task)}</strong>{' '}
      <span class="quiet">
        <Place task={task} />
      </span>
    </a>
  );
}

interface GroupProps extends Pick<Parameters<typeof TaskRow>[0], 'board' | 'nowMs'> {
  readonly store: Store;
  readonly group: Group;
}

function TaskGroup({ store, board, group, nowMs }: GroupProps) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = group.name === 'ended' && !isWhole && group.tasks.length > FIRST_ENDED;
  const tasks = isCut ? group.tasks.slice(0, FIRST_ENDED) : group.tasks;
  const home = store.home.value;
  return (
    <section class="group" aria-label={group.label}>
      <h3>
        {group.label} <span>{group.tasks.length}</span>
      </h3>
      <ul>
        {tasks.map((task) => (
          <TaskRow
            key={task.task_id}
            {...{ board, task, home, nowMs }}
            isSelected={task.task_id === store.openTask.value}
          />
        ))}
      </ul>
      {isCut && (
        <Button look="more" act={() => setIsWhole(true)}>
          Show all {group.tasks.length}
        </Button>
      )}
    </section>
  );
}

/** Leaves what is open by a key, unless a box holds words that are not saved: that gets the focus. */
export function leaveByKey(leave: () => void): void {
  const boxes = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    'main :is(.decision, .comments, .ending) :is(textarea, input[type=text])',
  );
  const typed = [...boxes].find(({ value }) => value.trim() !== '');
  if (typed === undefined) leave();
  else typed.focus();
}

/** j and k go through the list, Escape back to it. */
function useListKeys(groups: readonly Group[], selected: string | undefined): void {
  const ids = groups.flatMap(({ tasks }) => tasks.map(({ task_id }) => task_id));
  const leaveFor = (taskId: string | undefined): void => leaveByKey(() => openTaskPage(taskId));
  const move = (by: number): void => {
    const at = selected === undefined ? -1 : ids.indexOf(selected);
    const next = ids[at === -1 && by < 0 ? ids.length - 1 : at + by];
    if (next !== undefined) leaveFor(next);
  };
  useKeys({ j: () => move(1), k: () => move(-1), Escape: () => leaveFor(undefined) });
}
