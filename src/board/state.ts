// Pure: what a page shows, and how each action changes it. The board's process and the page share this file, so it imports nothing.

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
  /** How its worktree was finished; null while it is there, and without one. */
  readonly worktree_end: WorktreeEnd | null;
  /** Another task can begin with its session. */
  readonly can_continue: boolean;
  /** Its turn is over, and it waits for nothing but a message. */
  readonly is_ready: boolean;
  readonly keep_open: boolean;
  /** Grows with every change of status or decisions. */
  readonly change_seq: number;
}

/** What became of the work in a worktree. */
export interface WorktreeEnd {
  readonly action: 'merge' | 'apply' | 'discard';
  readonly at: string;
  /** The commit of a merge, or the ref that keeps the work; empty when there was none. */
  readonly result: string;
}

/** A process of the toolset `process`, as the overview shows it. */
export interface ProcessCard {
  readonly process_id: string;
  /** Program and arguments. */
  readonly command_line: string;
  readonly cwd: string;
  readonly mode: 'host' | 'docker';
  /** It goes on without the server that started it. */
  readonly keep: boolean;
  /** `lost`: whoever ran it is gone without a word of its end. */
  readonly status: 'running' | 'terminated' | 'lost';
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly reason: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
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
  readonly processes: Readonly<Record<string, ProcessCard>>;
  /** Tasks whose records cannot be read, and why. */
  readonly unreadable: Readonly<Record<string, string>>;
  /** The question that was answered last; null when that was before the board was read. */
  readonly last_closed: (DecisionEnd & { readonly summary: string }) | null;
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

/** A comment on a line of a task's changes. */
export interface ReviewComment {
  readonly comment_id: string;
  readonly file: string;
  /** Whether the line is one that was taken away, or one of the file as it is now. */
  readonly side: 'old' | 'new';
  readonly line: number;
  /** The line itself. */
  readonly quoted: string;
  readonly text: string;
  /** `answered`: it was sent, and the line has changed since. `unsure`: the board ended while it was being sent. */
  readonly state: 'draft' | 'sent' | 'answered' | 'unsure';
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

export type DiffAction =
  | {
      readonly type: 'diff.changed';
      readonly files: readonly DiffFile[];
      readonly notes: readonly string[];
      readonly why: string | null;
      readonly tree: string | null;
    }
  | { readonly type: 'review.changed'; readonly comments: readonly ReviewComment[] };

/** What a terminal shows now, as text: for a page that has no emulator. */
export interface ScreenState {
  readonly text: string;
  /** Why there is nothing to see. */
  readonly why: string | null;
}

export type ScreenAction = { readonly type: 'screen.changed' } & ScreenState;

export type BoardAction =
  | { readonly type: 'task.upserted'; readonly task: TaskCard }
  | { readonly type: 'task.removed'; readonly task_id: string }
  | { readonly type: 'task.unreadable'; readonly task_id: string; readonly why: string }
  | { readonly type: 'history.told'; readonly words: string }
  | { readonly type: 'process.upserted'; readonly process: ProcessCard }
  | { readonly type: 'process.removed'; readonly process_id: string }
  | { readonly type: 'decision.opened'; readonly decision: DecisionView }
  | {
      readonly type: 'decision.closed';
      readonly task_id: string;
      readonly decision_id: string;
      readonly end: DecisionEnd;
    };

export type TaskAction =
  | Exclude<
      BoardAction,
      { readonly type: 'task.unreadable' | 'process.upserted' | 'process.removed' | 'history.told' }
    >
  | { readonly type: 'event.appended'; readonly events: readonly TimelineEvent[] }
  | { readonly type: 'message.final'; readonly text: string }
  | { readonly type: 'receipt.ready'; readonly receipt: ReceiptFacts };

export const emptyBoard: BoardState = {
  tasks: {},
  decisions: {},
  processes: {},
  unreadable: {},
  last_closed: null,
  history: null,
};

export const emptyTask: TaskState = {
  task: null,
  prompt: '',
  final_message: '',
  decisions: {},
  events: [],
  earlier_events: 0,
  receipt: null,
};

export const emptyDiff: DiffState = { files: [], notes: [], why: null, tree: null, comments: [] };

export const emptyScreen: ScreenState = { text: '', why: null };

/** So many closed decisions of a task stay. */
const CLOSED_DECISIONS = 50;
/** So many events of a task stay; older ones are in the journal. */
export const MAX_EVENTS = 5_000;

export function reduceBoard(state: BoardState, action: BoardAction): BoardState {
  switch (action.type) {
    case 'task.upserted': {
      const { task } = action;
      return {
        ...state,
        tasks: { ...state.tasks, [task.task_id]: task },
        unreadable: without(state.unreadable, task.task_id),
      };
    }
    case 'task.removed':
      return {
        ...state,
        tasks: without(state.tasks, action.task_id),
        decisions: Object.fromEntries(
          Object.entries(state.decisions).filter(([, one]) => one.task_id !== action.task_id),
        ),
        unreadable: without(state.unreadable, action.task_id),
      };
    case 'task.unreadable':
      return { ...state, unreadable: { ...state.unreadable, [action.task_id]: action.why } };
    case 'history.told':
      return { ...state, history: action.words };
    case 'process.upserted': {
      const { process } = action;
      return { ...state, processes: { ...state.processes, [process.process_id]: process } };
    }
    case 'process.removed':
      return { ...state, processes: without(state.processes, action.process_id) };
    case 'decision.opened':
      return {
        ...state,
        decisions: { ...state.decisions, [keyOf(action.decision)]: action.decision },
      };
    case 'decision.closed': {
      const summary = state.decisions[keyOf(action)]?.summary;
      const decisions = without(state.decisions, keyOf(action));
      if (summary === undefined) return { ...state, decisions };
      return { ...state, decisions, last_closed: { ...action.end, summary } };
    }
  }
}

export function reduceTask(state: TaskState, action: TaskAction): TaskState {
  switch (action.type) {
    case 'task.upserted':
      return { ...state, task: action.task };
    case 'task.removed':
      return { ...state, task: null };
    case 'decision.opened':
      return {
        ...state,
        decisions: { ...state.decisions, [action.decision.decision_id]: action.decision },
      };
    case 'decision.closed': {
      const decision = state.decisions[action.decision_id];
      if (decision === undefined) return state;
      const closed = { ...decision, closed: action.end };
      return { ...state, decisions: newest({ ...state.decisions, [action.decision_id]: closed }) };
    }
    case 'event.appended':
      return appended(state, action.events);
    case 'message.final':
      return { ...state, final_message: action.text };
    case 'receipt.ready':
      return { ...state, receipt: action.receipt };
  }
}

export function reduceDiff(state: DiffState, { type: _type, ...change }: DiffAction): DiffState {
  return { ...state, ...change };
}

export function reduceScreen(_state: ScreenState, { type: _type, ...now }: ScreenAction): ScreenState {
  return now;
}

/** The open decisions of a task, in the order in which they were asked. */
export function openOf(decisions: Readonly<Record<string, DecisionView>>, taskId?: string): DecisionView[] {
  return Object.values(decisions)
    .filter((one) => one.closed === null && (taskId === undefined || one.task_id === taskId))
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at) || numberOf(a) - numberOf(b));
}

function appended(state: TaskState, events: readonly TimelineEvent[]): TaskState {
  const last = state.events.at(-1)?.seq ?? 0;
  const fresh = events.filter((event) => event.seq > last);
  if (fresh.length === 0) return state;
  const all = [...state.events, ...fresh];
  const dropped = Math.max(0, all.length - MAX_EVENTS);
  return { ...state, events: all.slice(dropped), earlier_events: state.earlier_events + dropped };
}

/** All open decisions and the newest closed ones. */
function newest(decisions: Readonly<Record<string, DecisionView>>): Record<string, DecisionView> {
  const closed = Object.values(decisions)
    .filter((one) => one.closed !== null)
    .sort((a, b) => numberOf(b) - numberOf(a));
  const dropped = new Set(closed.slice(CLOSED_DECISIONS).map((one) => one.decision_id));
  return Object.fromEntries(Object.entries(decisions).filter(([id]) => !dropped.has(id)));
}

function keyOf({ task_id, decision_id }: { readonly task_id: string; readonly decision_id: string }): string {
  return `${task_id}/${decision_id}`;
}

function numberOf({ decision_id }: DecisionView): number {
  return Number(decision_id.slice('dec_'.length));
}

function without<T>(all: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(all, key)) return all;
  const { [key]: _removed, ...rest } = all;
  return rest;
}
