import { useEffect, useRef, useState } from 'preact/hooks';
import { openOf, type BoardState, type TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { age, endWords, projectWords, span, visible } from '../text/words.js';
import { openTaskPage } from './navigate.js';
import { OpenDecisions } from './decisions.js';
import { groupNames, groupsOf, type Group } from './groups.js';
import { onKey } from './keys.js';
import { ownCommand, useNow } from './parts.js';
import { useSurface } from './surface.js';

const NOW_MS = 1_000;
/** Ended tasks beyond these are shown on demand. */
const FIRST_ENDED = 30;

/** Every task, grouped by what needs a person first. */
export function Overview({ store }: { readonly store: Store }) {
  const board = store.board.value;
  const [search, setSearch] = useState('');
  const { HeadActions } = useSurface();
  const nowMs = useNow(NOW_MS);
  const groups = board === undefined ? [] : groupsOf(board, search, nowMs);
  const selected = store.openTask.value;
  useListKeys(groups, selected);
  return (
    <div class="overview" role={selected === undefined ? 'main' : 'navigation'} aria-label="Tasks">
      <header class="bar">
        <h1>Tasks</h1>
        <Search value={search} onChange={setSearch} />
        {HeadActions !== undefined && <HeadActions />}
      </header>
      {board === undefined ? (
        <p class="empty">{store.connection.value.how === 'refused' ? '' : 'Loading…'}</p>
      ) : (
        <>
          <Questions store={store} board={board} isBeside={selected !== undefined} />
          {groups.map((group) => (
            <TaskGroup
              key={group.name}
              group={group}
              selected={selected}
              home={store.home.value}
              nowMs={nowMs}
            />
          ))}
          <Unreadable board={board} />
          {board.history !== null && <p class="quiet">{board.history}</p>}
          {groups.length === 0 && <NoTasks isFiltered={search !== ''} onAll={() => setSearch('')} />}
        </>
      )}
    </div>
  );
}

function Search({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => onKey('/', () => input.current?.focus()), []);
  return (
    <input
      ref={input}
      type="search"
      class="search"
      placeholder="Search ( / )"
      aria-label="Search tasks"
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        onChange('');
        event.currentTarget.blur();
      }}
    />
  );
}

/** What is asked now, answered here where no task is open. */
function Questions({
  store,
  board,
  isBeside,
}: {
  readonly store: Store;
  readonly board: BoardState;
  readonly isBeside: boolean;
}) {
  const open = openOf(board.decisions);
  if (open.length === 0 || isBeside) return null;
  return (
    <section class="questions" aria-label="Questions">
      <OpenDecisions
        store={store}
        open={open}
        above={({ task_id }) => <TaskLink task={board.tasks[task_id]} home={store.home.value} />}
      />
    </section>
  );
}

function TaskLink({ task, home }: { readonly task: TaskCard | undefined; readonly home: string }) {
  if (task === undefined) return null;
  return (
    <a class="task-link" href={`#/${task.task_id}`}>
      <strong dir="auto">{visible(task.prompt_summary)}</strong>{' '}
      <span class="quiet">{visible(projectWords(task.project_path, home))}</span>
    </a>
  );
}

interface GroupProps {
  readonly group: Group;
  readonly selected: string | undefined;
  readonly home: string;
  readonly nowMs: number;
}

function TaskGroup({ group, selected, home, nowMs }: GroupProps) {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = group.name === 'ended' && !isWhole && group.tasks.length > FIRST_ENDED;
  const shown = isCut ? group.tasks.slice(0, FIRST_ENDED) : group.tasks;
  return (
    <section class={`group ${group.name}`} aria-label={groupNames[group.name]}>
      <h2>
        {groupNames[group.name]} <span class="count">{group.tasks.length}</span>
      </h2>
      <ul>
        {shown.map((task) => (
          <TaskRow
            key={task.task_id}
            task={task}
            isSelected={task.task_id === selected}
            home={home}
            nowMs={nowMs}
          />
        ))}
      </ul>
      {isCut && (
        <button type="button" class="more" onClick={() => setIsWhole(true)}>
          Show all {group.tasks.length}
        </button>
      )}
    </section>
  );
}

interface RowProps {
  readonly task: TaskCard;
  readonly isSelected: boolean;
  readonly home: string;
  readonly nowMs: number;
}

function TaskRow({ task, isSelected, home, nowMs }: RowProps) {
  return (
    <li>
      <a
        class={isSelected ? 'row selected' : 'row'}
        href={`#/${task.task_id}`}
        aria-current={isSelected ? 'page' : undefined}
      >
        <span class="row-head">
          <span class={`status ${task.status}`}>{task.status}</span>
          <span class="prompt" dir="auto">
            {visible(task.prompt_summary)}
          </span>
          <time class="quiet" dateTime={task.ended_at ?? task.started_at ?? task.created_at}>
            {age(task, nowMs)}
          </time>
        </span>
        <span class="row-facts quiet">
          <span>{visible(projectWords(task.project_path, home))}</span>
          {task.model !== null && <span>{visible(task.model)}</span>}
          {task.files_changed > 0 && (
            <span>
              {task.files_changed} {task.files_changed === 1 ? 'file' : 'files'}
            </span>
          )}
          {task.used !== '' && <span>{task.used}</span>}
          {task.branch !== null && <span>{visible(branchWords(task.branch, task))}</span>}
          {task.queue_position !== null && <span>place {task.queue_position}</span>}
          {task.is_final && <span>took {span(task.elapsed_seconds)}</span>}
        </span>
        <span class="row-words quiet" dir="auto">
          {visible(wordsOf(task))}
        </span>
      </a>
    </li>
  );
}

/** The branch, and what became of it. */
function branchWords(branch: string, { worktree_end: end, is_final }: TaskCard): string {
  if (end !== null)
    return end.result === '' ? `${branch}, which had no work` : `${branch} ${endWords[end.action]}`;
  return is_final ? `${branch} waits to be merged or discarded` : branch;
}

function wordsOf(task: TaskCard): string {
  if ((task.status === 'completed' || task.is_ready) && task.last_words !== '') return task.last_words;
  if (task.is_final || task.status === 'pending') return task.reason;
  return task.is_held_up ? task.reason : task.activity;
}

function Unreadable({ board }: { readonly board: BoardState }) {
  const entries = Object.entries(board.unreadable);
  if (entries.length === 0) return null;
  return (
    <section class="group" aria-label="Unreadable">
      <h2>Unreadable</h2>
      <ul>
        {entries.map(([id, why]) => (
          <li key={id} class="quiet">
            {id}: {visible(why)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function NoTasks({ isFiltered, onAll }: { readonly isFiltered: boolean; readonly onAll: () => void }) {
  const { editor } = useSurface();
  return (
    <p class="empty">
      {isFiltered ? (
        <>
          No matching tasks.{' '}
          <button type="button" onClick={onAll}>
            Show all
          </button>
        </>
      ) : (
        <>
          No tasks yet. Ask your chat client to delegate something, or{' '}
          {editor === undefined ? (
            <>
              run <code>{ownCommand('run "…"')}</code> in a project.
            </>
          ) : (
            'press “New task…”.'
          )}
        </>
      )}
    </p>
  );
}

/** A box with words in it that are kept nowhere else: no key leaves it. */
function textThatWouldGo(): HTMLElement | undefined {
  const boxes = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    '.task :is(.decision, .comments, .ending) :is(textarea, input[type=text])',
  );
  return [...boxes].find(({ value }) => value.trim() !== '');
}

/** j and k go through the list, Escape back to it. */
function useListKeys(groups: readonly Group[], selected: string | undefined): void {
  const ids = groups.flatMap(({ tasks }) => tasks.map(({ task_id }) => task_id));
  const key = ids.join();
  useEffect(() => {
    const leaveFor = (taskId: string | undefined): void => {
      const typed = textThatWouldGo();
      if (typed === undefined) openTaskPage(taskId);
      else typed.focus();
    };
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
  }, [key, selected]);
}
