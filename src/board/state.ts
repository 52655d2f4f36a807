// Pure: what a page shows, and how it is read from the values of a channel. The board's process and the page share this file, so it imports nothing.

/** A decision as a page shows it. Times are ISO 8601 in UTC. */
export interface DecisionView {
  readonly task_id: string;
  readonly decision_id: string;
  readonly kind: 'permission' | 'question' | 'plan' | 'trust' | 'prompt';
  readonly tool: string;
  readonly summary: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The request is longer than `input`. */
  readonly input_is_cut: boolean;
  /** An answer names it, so that no answer is for a request that has changed. */
  readonly input_sha256: string;
  readonly options: readonly string[];
  readonly questions: readonly QuestionView[];
  /** In words, once for all surfaces: see `DescribedDecision` in src/tasks/decisions/described.ts. */
  readonly asks: string;
  readonly cut: string | null;
  readonly choices: readonly {
    readonly label: string;
    readonly key: string;
    readonly answer: 'allow' | 'allow_session' | 'deny';
  }[];
  readonly otherwise: string;
  /** Which rule asks, and its reason. */
  readonly why: string | null;
  /** It can be allowed with another input. */
  readonly can_edit: boolean;
  /** Without an answer it is left to the person at the session's terminal, and no rule applies to it. */
  readonly is_left: boolean;
  readonly asked_at: string;
  readonly expires_at: string;
  /** Null while it is open. */
  readonly closed: DecisionEnd | null;
}

export interface QuestionView {
  readonly question: string;
  readonly header: string;
  readonly multi_select: boolean;
  readonly options: readonly { readonly label: string; readonly description: string | null }[];
}

export interface DecisionEnd {
  readonly verdict: 'allow' | 'allow_session' | 'deny' | 'withdrawn';
  readonly by: string;
  readonly reason: string | null;
  readonly at: string;
  /** What was allowed instead of what was asked. */
  readonly edits: readonly { readonly field: string; readonly asked: string; readonly allowed: string }[];
}

/** Rules that would allow the like of a request, as they would stand in the settings. */
export interface RuleProposal {
  readonly rules: readonly string[];
  /** The rows, as they would stand in the file. */
  readonly rows: string;
  readonly file: string;
  /** Why they cannot be written there; null when they can. */
  readonly refusal: string | null;
  /** When they count, and for which tasks they do not. */
  readonly notes: readonly string[];
}

/** A task as the overview shows it. */
export interface TaskCard {
  readonly task_id: string;
  readonly status: string;
  readonly is_final: boolean;
  readonly reason: string;
  readonly activity: string;
  readonly project_path: string;
  readonly prompt_summary: string;
  /** What it said or printed last, at most a few lines. */
  readonly last_words: string;
  readonly model: string | null;
  readonly driver: string;
  readonly permission_mode: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** 0 before it has ended. */
  readonly elapsed_seconds: number;
  readonly turns: number;
  /** Of its project, as its tools named them. */
  readonly files_changed: number;
  /** Null where Claude Code does not report it. */
  readonly cost_usd: number | null;
  /** Cost and tokens, and their limits, in words; empty where nothing is known. */
  readonly used: string;
  readonly queue_position: number | null;
  /** What holds it up, and when it goes on. */
  readonly trouble: { readonly kind: string; readonly resumes_at: string | null } | null;
  readonly branch: string | null;
  /** How its work was finished; null while it was not. */
  readonly worktree_end: WorktreeEnd | null;
  /** Another task can begin with its session. */
  readonly can_continue: boolean;
  /** Its turn is over, and it waits for nothing but a message. */
  readonly is_ready: boolean;
  readonly keep_open: boolean;
  /** Grows with every change of status or decisions. */
  readonly change_seq: number;
}

/** What became of the work in a worktree, or of what changed in a shared folder (`undo`). */
export interface WorktreeEnd {
  readonly action: 'merge' | 'apply' | 'discard' | 'undo';
  readonly at: string;
  /** The commit of a merge, or the ref that keeps the work; empty when there was none. */
  readonly result: string;
}

/** One event of the journal. */
export interface TimelineEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The overview. Decisions by `<task_id>/<decision_id>`; only open ones. */
export interface BoardState {
  readonly tasks: Readonly<Record<string, TaskCard>>;
  readonly decisions: Readonly<Record<string, DecisionView>>;
  /** Tasks whose records cannot be read, and why. */
  readonly unreadable: Readonly<Record<string, string>>;
  /** What the history lost last, in a sentence; null for nothing. */
  readonly history: string | null;
}

/** One task. */
export interface TaskState {
  /** Null when there is no such task, or no longer. */
  readonly task: TaskCard | null;
  readonly prompt: string;
  readonly final_message: string;
  /** By id: the open ones, and the last that were closed. */
  readonly decisions: Readonly<Record<string, DecisionView>>;
  readonly events: readonly TimelineEvent[];
  /** How many events before the first one are not shown. */
  readonly earlier_events: number;
  readonly receipt: ReceiptFacts | null;
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

/** A comment on a line of a task's changes that was not sent yet. */
export interface ReviewComment {
  readonly comment_id: string;
  readonly file: string;
  /** Whether the line is one that was taken away, or one of the file as it is now. */
  readonly side: 'old' | 'new';
  readonly line: number;
  /** The line itself. */
  readonly quoted: string;
  readonly text: string;
}

/** What a task changed since it began. */
export interface DiffState {
  readonly files: readonly DiffFile[];
  readonly notes: readonly string[];
  /** Why there is nothing to see. */
  readonly why: string | null;
  /** Of a worktree: the tree that is shown. */
  readonly tree: string | null;
  readonly comments: readonly ReviewComment[];
}

export const emptyBoard: BoardState = {
  tasks: {},
  decisions: {},
  unreadable: {},
  history: null,
};

/** What is followed under one name, by key: a feed computes all of it, and the board sends what has changed. */
export type Values = ReadonlyMap<string, unknown>;

/** Of `board:/`: `task/<id>`, `decision/<task>/<id>`, `unreadable/<task>` and `history`. */
export function boardOf(values: Values): BoardState {
  return {
    tasks: below(values, 'task/', isTask),
    decisions: below(values, 'decision/', isDecision),
    unreadable: below(values, 'unreadable/', isText),
    history: at(values, 'history', isText) ?? null,
  };
}

/** Of `task:/<id>`: `decision/<id>`, `event/<seq>` in their order, and the other fields by their names. */
export function taskOf(values: Values): TaskState {
  return {
    task: at(values, 'task', isTask) ?? null,
    prompt: at(values, 'prompt', isText) ?? '',
    final_message: at(values, 'final_message', isText) ?? '',
    decisions: below(values, 'decision/', isDecision),
    events: Object.values(below(values, 'event/', isEvent)),
    earlier_events: at(values, 'earlier_events', isNumber) ?? 0,
    receipt: at(values, 'receipt', isReceipt) ?? null,
  };
}

/** Of `diff:/<id>`: `file/<number>` and `comment/<number>` in their order, and the other fields by their names. */
export function diffOf(values: Values): DiffState {
  return {
    files: Object.values(below(values, 'file/', isFile)),
    notes: at(values, 'notes', isTexts) ?? [],
    why: at(values, 'why', isText) ?? null,
    tree: at(values, 'tree', isText) ?? null,
    comments: Object.values(below(values, 'comment/', isComment)),
  };
}

/** The value of a key; undefined when there is none. */
export function at<T>(values: Values, key: string, isOne: Guard<T>): T | undefined {
  const value = values.get(key);
  return isOne(value) ? value : undefined;
}

/** The values whose keys begin with `start`, by the rest of their keys. */
export function below<T>(values: Values, start: string, isOne: Guard<T>): Readonly<Record<string, T>> {
  const found: Record<string, T> = {};
  for (const [key, value] of values)
    if (key.startsWith(start) && isOne(value)) found[key.slice(start.length)] = value;
  return found;
}

type Guard<T> = (value: unknown) => value is T;

/** The board and what shows it are of one build: that it is an object is all there is to check. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value);
const isTask = (value: unknown): value is TaskCard => isObject(value);
const isDecision = (value: unknown): value is DecisionView => isObject(value);
const isEvent = (value: unknown): value is TimelineEvent => isObject(value);
const isReceipt = (value: unknown): value is ReceiptFacts => isObject(value);
const isFile = (value: unknown): value is DiffFile => isObject(value);
const isComment = (value: unknown): value is ReviewComment => isObject(value);

/** The open decisions of a task, in the order in which they were asked. */
export function openOf(decisions: Readonly<Record<string, DecisionView>>, taskId?: string): DecisionView[] {
  return Object.values(decisions)
    .filter((one) => one.closed === null && (taskId === undefined || one.task_id === taskId))
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at) || numberOf(a) - numberOf(b));
}

function numberOf({ decision_id }: DecisionView): number {
  return Number(decision_id.slice('dec_'.length));
}
