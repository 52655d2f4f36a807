import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { openOf, type BoardState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { projectName, visible } from '../text/words.js';
import { OpenDecisions } from './decisions.js';
import { groupNames, groupsOf, isShown, shownKinds, type Group, type Shown } from './groups.js';
import { onKey } from './keys.js';
import { openTaskPage } from './navigate.js';
import { ownCommand, useNow, Button } from './parts.js';
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
  useListKeys(groups, store.openTask.value);
  const showAll = (): void => {
    setSearch('');
    setShown('all');
  };
  return (
    <>
      <TopBar {...{ search, setSearch, shown, setShown }} groups={all} />
      {children ?? <Home store={store} />}
      {board !== undefined && hasAny(board) && (
        <nav class="list" aria-label="Tasks">
          {groups.map((group) => (
            <TaskGroup key={group.name} {...{ store, board, group, nowMs }} />
          ))}
          <Unreadable board={board} />
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
  useEffect(() => onKey('/', () => input.current?.focus()), []);
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

function hasAny({ tasks, unreadable, history }: BoardState): boolean {
  return Object.keys({ ...tasks, ...unreadable }).length > 0 || history !== null;
}

/** What is asked now, where no task is open. */
function Home({ store }: { readonly store: Store }) {
  const board = store.board.value;
  if (board === undefined)
    return (
      <main class="home">
        {store.connection.value.how !== 'refused' && <p class="empty loading idle">Loading…</p>}
      </main>
    );
  const open = openOf(board.decisions);
  if (open.length === 0)
    return <main class="home">{Object.keys(board.tasks).length === 0 ? <NoTasks /> : <Calm />}</main>;
  return (
    <main class="home" aria-label="Questions">
      <OpenDecisions
        store={store}
        open={open}
        above={({ task_id }) => {
          const task = board.tasks[task_id];
          if (task === undefined) return null;
          return (
            <a class="task-link" href={`#/${task_id}`}>
              <strong dir="auto">{visible(task.prompt_summary)}</strong>{' '}
              <span class="quiet">{visible(projectName(task.project_path))}</span>
            </a>
          );
        }}
      />
    </main>
  );
}

function NoTasks() {
  const { editor } = useSurface();
  return (
    <div class="empty">
      <p class="title">No tasks yet.</p>
      <p>
        Press “New task”, ask your chat client to delegate something
        {editor === undefined && (
          <>
            , or run <code>{ownCommand('run "…"')}</code> in a project
          </>
        )}
        .
      </p>
    </div>
  );
}

function Calm() {
  return (
    <div class="empty idle">
      <p class="title">Nothing waits for you.</p>
      <p>Choose a task to see what it did. What a task asks appears here.</p>
    </div>
  );
}

interface GroupProps {
  readonly store: Store;
  readonly board: BoardState;
  readonly group: Group;
  readonly nowMs: number;
}

function TaskGroup({ store, board, group, nowMs }: GroupProps) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = group.name === 'ended' && !isWhole && group.tasks.length > FIRST_ENDED;
  const tasks = isCut ? group.tasks.slice(0, FIRST_ENDED) : group.tasks;
  const home = store.home.value;
  return (
    <section class="group" aria-label={groupNames[group.name]}>
      <h3>
        {groupNames[group.name]} <span>{group.tasks.length}</span>
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

function Unreadable({ board }: { readonly board: BoardState }) {
  const entries = Object.entries(board.unreadable);
  if (entries.length === 0) return null;
  return (
    <section class="group" aria-label="Unreadable">
      <h3>Unreadable</h3>
      {entries.map(([id, why]) => (
        <p key={id} class="quiet">
          {id}: {visible(why)}
        </p>
      ))}
    </section>
  );
}

/** Leaves what is open by a key, unless a box has words in it that are kept nowhere else: that gets the focus. */
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
  useEffect(() => {
    const leaveFor = (taskId: string | undefined): void => leaveByKey(() => openTaskPage(taskId));
    const move = (by: number): void => {
      const at = selected === undefined ? -1 : ids.indexOf(selected);
      const next = ids[at === -1 && by < 0 ? ids.length - 1 : at + by];
      if (next !== undefined) leaveFor(next);
    };
    const offs = [
      onKey('j', () => move(1)),
      onKey('k', () => move(-1)),
      onKey('Escape', () => leaveFor(undefined)),
    ];
    return () => offs.forEach((off) => off());
  }, [ids.join(), selected]);
}
