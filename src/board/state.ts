// Pure: what a page shows, and how it is read from the values of a channel. The board's process and the page share this file, so it imports types alone.
import type { ReviewComment } from './protocol.js';
import type { cardOf, checksOf, decisionViewOf } from './task-views.js';

/** A decision as a page shows it. Times are ISO 8601 in UTC. */
export type DecisionView = Readonly<ReturnType<typeof decisionViewOf>>;

export type QuestionView = DecisionView['questions'][number];

/** A task as the overview shows it. */
export type TaskCard = Readonly<ReturnType<typeof cardOf>>;

/** What came of the checks of a task. */
export type CheckRows = Readonly<NonNullable<ReturnType<typeof checksOf>>>;

/** What became of the work in a worktree. */
export type WorktreeEnd = NonNullable<TaskCard['worktree_end']>;

/** One event of the journal. */
export interface TimelineEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a receipt says, as far as a page shows it. The whole one is in the task's folder. */
export type ReceiptFacts = Readonly<Record<string, unknown>>;

/** A changed file, with its hunks as git prints them. */
export interface DiffFile {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'deleted' | 'renamed';
  /** Of a renamed file: its name before. */
  readonly old_path?: string;
  /** What git says of its mode: that it changed, or that it is executable, a link or a repository. */
  readonly mode?: string;
  /** Bytes of its lines are not UTF-8, and are shown as U+FFFD. */
  readonly is_misread?: boolean;
  readonly is_binary: boolean;
  readonly insertions: number;
  readonly deletions: number;
  readonly hunks: string;
  /** The file has more hunks than `hunks`. */
  readonly is_cut: boolean;
}

/** What is followed under one name, by key: a feed computes all of it, and the board sends what has changed. */
export type Values = ReadonlyMap<string, unknown>;

/** How another machine is. Times are ISO 8601 in UTC, of this machine's clock. */
export interface MachineView {
  readonly state: 'opening' | 'live' | 'unverifiable';
  /** Since when it is unverifiable. */
  readonly since: string | null;
  /** Of when its tasks are shown; null where that is now, and where they were never read. */
  readonly as_of: string | null;
  readonly why: string;
  readonly hostname: string;
  /** The home folder there; empty while it is not known. */
  readonly home: string;
}

/** The overview: what `board:/` has by `task/<id>`, `decision/<task>/<id>`, `unreadable/<task>`, `machine/<name>` and `history`. */
export function boardOf(values: Values) {
  return {
    tasks: below(values, 'task/', isOne<TaskCard>),
    /** By `<task_id>/<decision_id>`; only open ones. */
    decisions: below(values, 'decision/', isOne<DecisionView>),
    /** Tasks whose records cannot be read, and why. */
    unreadable: below(values, 'unreadable/', isText),
    /** By name; a task there has the name before its id. */
    machines: below(values, 'machine/', isOne<MachineView>),
    /** What the history lost last, in a sentence; null for nothing. */
    history: at(values, 'history', isText) ?? null,
  };
}
export type BoardState = Readonly<ReturnType<typeof boardOf>>;

/** One task: what `task:/<id>` has by `decision/<id>`, by `event/<seq>` in their order, and by the names of other fields. */
export function taskOf(values: Values) {
  return {
    /** Null when there is no such task, or no longer. */
    task: at(values, 'task', isOne<TaskCard>) ?? null,
    prompt: at(values, 'prompt', isText) ?? '',
    /** Empty for a task without one. */
    brief: at(values, 'brief', isText) ?? '',
    /** Null for a task without checks. */
    checks: at(values, 'checks', isOne<CheckRows>) ?? null,
    final_message: at(values, 'final_message', isText) ?? '',
    /** By id: the open ones, and the last that were closed. */
    decisions: below(values, 'decision/', isOne<DecisionView>),
    events: Object.values(below(values, 'event/', isOne<TimelineEvent>)),
    /** How many events before the first one are not shown. */
    earlier_events: at(values, 'earlier_events', isNumber) ?? 0,
    receipt: at(values, 'receipt', isOne<ReceiptFacts>) ?? null,
  };
}
export type TaskState = Readonly<ReturnType<typeof taskOf>>;

/** What a task changed since it began: `diff:/<id>` has `file/<number>` and `comment/<number>` in their order, and other fields. */
export function diffOf(values: Values) {
  const files: readonly DiffFile[] = Object.values(below(values, 'file/', isOne<DiffFile>));
  return {
    files,
    notes: at(values, 'notes', isTexts) ?? [],
    /** Why there is nothing to see. */
    why: at(values, 'why', isText) ?? null,
    /** Of a worktree: the tree that is shown. */
    tree: at(values, 'tree', isText) ?? null,
    comments: Object.values(below(values, 'comment/', isOne<ReviewComment>)),
  };
}
export type DiffState = Readonly<ReturnType<typeof diffOf>>;

/** The value of a key; undefined when there is none. */
export function at<T>(values: Values, key: string, fits: Guard<T>): T | undefined {
  const value = values.get(key);
  return fits(value) ? value : undefined;
}

/** The values whose keys begin with `start`, by the rest of their keys. */
function below<T>(values: Values, start: string, fits: Guard<T>): Readonly<Record<string, T>> {
  const found: Record<string, T> = {};
  for (const [key, value] of values)
    if (key.startsWith(start) && fits(value)) found[key.slice(start.length)] = value;
  return found;
}

type Guard<T> = (value: unknown) => value is T;

/** The board and what shows it are of one build: that it is an object is all there is to check. */
export function isOne<T extends object>(value: unknown): value is T {
  return typeof value === 'object' && value !== null;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value);

export const emptyBoard: BoardState = boardOf(new Map());

/** The open decisions of a task, in the order in which they were asked. */
export function openOf(decisions: Readonly<Record<string, DecisionView>>, taskId?: string): DecisionView[] {
  return Object.values(decisions)
    .filter((one) => one.closed === null && (taskId === undefined || one.task_id === taskId))
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at) || numberOf(a) - numberOf(b));
}

function numberOf({ decision_id }: DecisionView): number {
  return Number(decision_id.slice('dec_'.length));
}
