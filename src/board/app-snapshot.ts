// Pure: snapshots for an app in a chat, where an answer of a tool is bounded.
import { headBytes } from '../base/text/text.js';
import type { BoardState, DecisionView, DiffState, TaskState } from './state.js';
import { cutInput } from './task-views.js';

/** Of a request that is asked; more of it is on the board in a browser. */
const MAX_INPUT_BYTES = 64 * 1024;
/** Of the processes that run, whose command lines may be long. */
const MAX_PROCESS_BYTES = 16 * 1024;
const MAX_MESSAGE_BYTES = 64 * 1024;

/** A state with what a person needs first, in about `maxBytes`; with `only`, the tasks of the overview are these. */
export function appState<S extends object>(state: S, maxBytes: number, only?: ReadonlySet<string>): S;
export function appState(state: object, maxBytes: number, only?: ReadonlySet<string>): object {
  if (isBoard(state)) return boardFor(state, maxBytes, only);
  if (isTask(state)) return taskFor(state, maxBytes);
  return isDiff(state) ? diffFor(state, maxBytes) : state;
}

/** Tasks that have not ended first, then the newest. */
function boardFor(state: BoardState, maxBytes: number, only?: ReadonlySet<string>): BoardState {
  const decisions = Object.fromEntries(
    Object.entries(state.decisions)
      .filter(([, { task_id }]) => only?.has(task_id) ?? true)
      .map(([key, decision]) => [key, shortened(decision)]),
  );
  const unreadable = Object.fromEntries(
    Object.entries(state.unreadable).filter(([id]) => only?.has(id) ?? true),
  );
  const running = Object.values(state.processes).filter(({ status }) => status === 'running');
  const processes = Object.fromEntries(
    fitting(only === undefined ? running : [], MAX_PROCESS_BYTES).map((one) => [one.process_id, one]),
  );
  const tasks = Object.values(state.tasks)
    .filter(({ task_id }) => only?.has(task_id) ?? true)
    .sort((a, b) => Number(a.is_final) - Number(b.is_final) || b.created_at.localeCompare(a.created_at));
  const kept = fitting(tasks, maxBytes - bytesOf({ decisions, processes, unreadable }));
  return {
    decisions,
    processes,
    last_closed: only === undefined ? state.last_closed : null,
    history: only === undefined ? state.history : null,
    unreadable,
    tasks: Object.fromEntries(kept.map((task) => [task.task_id, task])),
  };
}

function taskFor(state: TaskState, maxBytes: number): TaskState {
  const { events, earlier_events } = state;
  const small = {
    ...state,
    final_message: headBytes(state.final_message, MAX_MESSAGE_BYTES),
    decisions: Object.fromEntries(
      Object.entries(state.decisions).map(([id, decision]) => [id, shortened(decision)]),
    ),
  };
  const kept = fitting([...events].reverse(), maxBytes - bytesOf({ ...small, events: [] })).reverse();
  return { ...small, events: kept, earlier_events: earlier_events + events.length - kept.length };
}

function diffFor(state: DiffState, maxBytes: number): DiffState {
  const kept = fitting(state.files, maxBytes - bytesOf({ ...state, files: [] }));
  const left = state.files.length - kept.length;
  if (left === 0) return state;
  const note = `${left} more ${left === 1 ? 'file is' : 'files are'} not shown here: the board in a browser shows all.`;
  return { ...state, files: kept, notes: [...state.notes, note] };
}

/** An answer names the whole request by its hash, also where only the beginning is shown. */
function shortened(decision: DecisionView): DecisionView {
  if (decision.closed !== null) return { ...decision, input: {} };
  if (bytesOf(decision.input) <= MAX_INPUT_BYTES) return decision;
  return { ...decision, input: cutInput(decision.input, MAX_INPUT_BYTES), input_is_cut: true };
}

/** The first ones that are not larger together. */
function fitting<T>(items: readonly T[], maxBytes: number): T[] {
  let bytes = 0;
  const end = items.findIndex((item) => (bytes += bytesOf(item) + 1) > maxBytes);
  return end === -1 ? [...items] : items.slice(0, end);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function isBoard(state: object): state is BoardState {
  return 'unreadable' in state;
}

function isTask(state: object): state is TaskState {
  return 'earlier_events' in state;
}

function isDiff(state: object): state is DiffState {
  return 'files' in state;
}
