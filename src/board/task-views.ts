// Pure: what a page shows of a record.
import { createHash } from 'node:crypto';
import { headBytes } from '../base/text.js';
import { isNotYet, metWords, notesOf, shownRun, unmetWords } from '../checks/result.js';
import {
  type Decision,
  isFinal,
  isNative,
  projectFiles,
  type TaskRecord,
  WAITS_FOR_MESSAGE,
} from '../tasks/task.js';
import { canContinue } from '../tasks/polling-hint.js';
import { usedWords } from '../tasks/budget/budget.js';
import { described } from '../tasks/decisions/described.js';

const MAX_SUMMARY_BYTES = 2_000;
const MAX_LAST_WORDS_BYTES = 600;
const LAST_LINES = 4;
/** Of what a request asks for, and of one that is answered; the journal and the log have the whole. */
const MAX_INPUT_BYTES = 256 * 1024;
const MAX_CLOSED_INPUT_BYTES = 16 * 1024;

/** A task as the overview shows it: see `TaskCard`. */
export function cardOf(record: TaskRecord) {
  const { trouble, worktree, checked } = record;
  return {
    task_id: record.task_id,
    status: record.status,
    is_final: isFinal(record.status),
    reason: headBytes(record.reason, MAX_SUMMARY_BYTES),
    activity: headBytes(record.activity, MAX_SUMMARY_BYTES),
    project_path: worktree?.project_path ?? record.project_path,
    prompt_summary: headBytes(record.prompt_summary, MAX_SUMMARY_BYTES),
    last_words: lastWordsOf(record),
    model: record.model,
    driver: record.driver,
    permission_mode: record.permission_mode,
    created_at: record.created_at,
    started_at: record.started_at,
    ended_at: record.ended_at,
    // Until then the page counts itself.
    elapsed_seconds: isFinal(record.status) ? record.elapsed_seconds : 0,
    turns: record.turns,
    /** Of its project, as its tools named them. */
    files_changed: projectFiles(record).length,
    // Cost and tokens, and their limits, in words; empty where nothing is known.
    used: usedWords(record),
    queue_position: record.queue_position ?? null,
    is_held_up: trouble != null,
    branch: worktree?.branch ?? null,
    /** Null while it is there, and without one. `result`: the commit of a merge, or the ref that keeps the work. */
    worktree_end: worktree?.finished ?? undoneAt(record.undone_at),
    /** As in "5 of 6 checks met"; empty without checks, and before they run. */
    checks_met: checked && (isFinal(record.status) || !isNotYet(checked)) ? metWords(checked) : '',
    /** In words: which checks are not met; null where all are, or where there are none. */
    unmet: unmetWords(checked) ?? null,
    /** The tree of a worktree that the checks ran on; null where there is none. */
    checked_tree: (worktree && checked?.tree) ?? null,
    /** Another task can begin with its session. */
    can_continue: canContinue(record),
    /** Its turn is over, and it waits for nothing but a message. */
    is_ready: isReady(record),
  };
}

/** The checks of a task as its page shows them: see `CheckRows`. */
export function checksOf({ checked }: TaskRecord) {
  return checked === undefined ? null : { ...shownRun(checked), notes: notesOf(checked) };
}

/** What changed in a shared folder and was taken back. */
function undoneAt(at: string | undefined) {
  return at === undefined ? null : ({ action: 'undo', at, result: '' } as const);
}

/** Ready for a message of this page: a session that a person started takes none. */
function isReady(record: TaskRecord): boolean {
  const { status, reason, decisions } = record;
  return (
    !isNative(record) &&
    status === 'waiting' &&
    reason.endsWith(WAITS_FOR_MESSAGE) &&
    decisions.every(({ closed_at }) => closed_at !== null)
  );
}

/** A decision as a page shows it: see `DecisionView`. */
export function decisionViewOf(taskId: string, decision: Decision) {
  const text = JSON.stringify(decision.input);
  const maxBytes = decision.closed_at === null ? MAX_INPUT_BYTES : MAX_CLOSED_INPUT_BYTES;
  const isLong = Buffer.byteLength(text) > maxBytes;
  const { asks, cut, choices, otherwise } = described(decision, !isLong);
  return {
    task_id: taskId,
    decision_id: decision.decision_id,
    kind: decision.kind,
    tool: decision.tool,
    summary: decision.summary,
    input: isLong ? cutInput(decision.input, maxBytes) : decision.input,
    input_is_cut: cut !== null,
    ...{ asks, cut, choices, otherwise },
    /** An answer names it, so that no answer is for a request that has changed. */
    input_sha256: inputHash(decision),
    questions: (decision.questions ?? []).map(({ question, header, multiSelect, options }) => ({
      question,
      header,
      multi_select: multiSelect,
      options: options.map(({ label, description }) => ({ label, description: description ?? null })),
    })),
    /** Which rule asks, and its reason. */
    why: decision.why ?? null,
    can_edit: decision.can_edit ?? false,
    /** Without an answer it is left to the person at the session's terminal, and no rule applies to it. */
    is_left: decision.is_left ?? false,
    asked_at: decision.asked_at,
    expires_at: decision.expires_at,
    closed: endOf(decision),
  };
}

/** What an answer names, so that it is for the request that was shown. */
export function inputHash({ tool, input, questions }: Decision): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, input, questions ?? null]))
    .digest('hex');
}

/** Null while it is open; `edits`: what was allowed instead of what was asked. */
function endOf({ closed_at, verdict, answered_by, reason, edits = [] }: Decision) {
  if (closed_at === null) return null;
  return { verdict: verdict ?? 'withdrawn', by: answered_by ?? 'session', reason, at: closed_at, edits };
}

function lastWordsOf({ final_message, last_output }: TaskRecord): string {
  const text = final_message === '' ? last_output : final_message;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return headBytes(lines.slice(-LAST_LINES).join('\n'), MAX_LAST_WORDS_BYTES);
}

/** The beginning of each field, together at most about so many bytes. */
export function cutInput(input: Decision['input'], maxBytes: number): Record<string, unknown> {
  const share = Math.floor(maxBytes / Math.max(1, Object.keys(input).length));
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      headBytes(typeof value === 'string' ? value : JSON.stringify(value), share),
    ]),
  );
}
