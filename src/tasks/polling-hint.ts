// Pure: what a caller should do next, by the status of its task.
import { byTool, nextWords, type Step } from '../base/errors.js';
import { unmetWords } from '../checks/result.js';
import { countedNoun, someNames } from '../base/text.js';
import { MESSAGE_CHANGED } from '../claude/session.js';
import { AT_TERMINAL, isFinal, isNative, openDecisions, type TaskRecord, TURN_OVER } from './task.js';

const FOLLOW = 'Call wait_for_task with the cursor; it answers as soon as that changes.';
const GOES_ON =
  'The agent has answered, see last_output. What the reason names goes on: a scheduled turn comes, and programs end, or are ended after ten minutes. Send a message with message_task, or end all of it with kill_task.';
/** What was done a caller should not have to read out of a log. */
const RECEIPT = 'get_task_result gives its receipt.';
const CLAIM =
  'That is what it says of itself: get_task_result gives its receipt, with its commands and how each ended.';

/** Begins the activity of a task with a message that was not sent yet. */
export const MESSAGE_WAITS = 'A message waits to be sent';

const OVER = 'The session is over for the bridge; its reason says why.';

export function pollingHint(record: TaskRecord): string {
  if (isNative(record) && isFinal(record.status)) return OVER;
  if (record.line !== undefined && !isFinal(record.status))
    return `${lineWords(record)}Answers and messages are refused until it answers again: wait_for_task goes on meanwhile.`;
  return `${lineWords(record)}${messageWords(record)}${nextStep(record)}${isFinal(record.status) ? `${worktreeWords(record)}${undoneWords(record)}` : ''}`;
}

/** That the machine of a task does not answer; empty for one that does, and for a task of this machine. */
export function lineWords({ task_id, line }: Pick<TaskRecord, 'task_id' | 'line'>): string {
  if (line === undefined) return '';
  return `The machine of ${task_id} does not answer: ${line}. The task runs on there, as far as is known. `;
}

/** What is done with the work of a task in a worktree; empty where there is none. */
export function worktreeWords({ worktree }: TaskRecord): string {
  if (worktree === undefined || worktree.finished !== undefined) return '';
  return ' Its work is in a worktree: get_task_diff shows it, and finish_task merges, applies or discards it.';
}

/** That `finish_task` has taken back what a task changed in a shared folder; empty where it has not. */
export function undoneWords({ undone_at }: TaskRecord): string {
  return undone_at === undefined ? '' : ` What it changed was undone at ${undone_at}; new files stayed.`;
}

/** Whether another task can begin with the session of one that has ended. */
export function canContinue({ status, session_id, worktree }: TaskRecord): boolean {
  return isFinal(status) && session_id !== null && worktree?.finished === undefined;
}

/** How to go on after a task that has ended, or is ending. */
export function goOnStep({ task_id, session_id, worktree }: TaskRecord): Step {
  return session_id === null || worktree?.finished !== undefined
    ? { do: 'start' }
    : { do: 'continue', task: task_id };
}

function goOnWords(record: TaskRecord): string {
  return nextWords([goOnStep(record)], (step) => byTool(step));
}

/** Until when a message that was sent now waits. */
export function waitsUntil(record: TaskRecord): string {
  const [open] = openDecisions(record);
  return open === undefined
    ? 'until the turn is over'
    : `until ${open.decision_id} is answered and the turn is over`;
}

/** What became of the newest messages; empty where that is no news. */
function messageWords(record: TaskRecord): string {
  const { messages = [], status } = record;
  const waiting = messages.filter(({ state }) => state === 'waiting').length;
  const lost = messages.filter(({ state }) => state === 'lost').map(({ text }) => text);
  const counted = (count: number): string => countedNoun(count, 'message');
  if (lost.length > 0)
    return `${counted(lost.length)} ${lost.length === 1 ? 'was' : 'were'} not delivered: ${someNames(lost)}. `;
  if (waiting > 0) return `${counted(waiting)} ${waiting === 1 ? 'waits' : 'wait'} ${waitsUntil(record)}. `;
  return messages.length > 0 && status === 'running' ? 'The message was delivered. ' : '';
}

function nextStep(record: TaskRecord): string {
  switch (record.status) {
    case 'pending':
      return record.queue_position === undefined
        ? `Task is queued. It will start shortly. ${FOLLOW}`
        : `Task is queued, place ${record.queue_position}. It starts automatically. ${FOLLOW}`;
    case 'starting':
      return `Task is initializing. ${FOLLOW}`;
    case 'running':
      if (record.reason.startsWith(TURN_OVER)) return GOES_ON;
      return record.activity === MESSAGE_CHANGED
        ? `${MESSAGE_CHANGED} ${FOLLOW}`
        : `${processing(record)} ${FOLLOW}`;
    case 'waiting':
      return waitingHint(record);
    case 'completed':
      return `${completed(record)} Review the output above. ${CLAIM}`;
    case 'failed':
      return `${failure(record)}. ${whereItSays(record)} ${RECEIPT}`;
    case 'timeout':
      return `Task exceeded the timeout limit and was terminated. ${RECEIPT}`;
    case 'killed':
      return record.ended_by_budget !== undefined
        ? `Task was ended at its budget; its work is where it was. ${budgetHint(record)} ${RECEIPT}`
        : `Task was manually terminated. ${RECEIPT}`;
    case 'error':
      return `An internal error occurred: its reason says what broke it off. get_task_output shows how far it got. ${goOnWords(record)} ${RECEIPT}`;
  }
}

function completed({ checked }: TaskRecord): string {
  const unmet = unmetWords(checked);
  return unmet === undefined ? 'Task completed successfully.' : `Task completed, and ${unmet}.`;
}

/** How to go on after a task that was ended at its budget. */
function budgetHint(record: TaskRecord): string {
  const more =
    record.ended_by_budget === 'day'
      ? 'That is possible tomorrow, or when the user has raised the setting day_budget.'
      : 'It gets a budget of its own: max_cost_usd and max_tokens, up to what the setting task_budget of the user allows.';
  return `${goOnWords(record)} ${more}`;
}

function processing({ elapsed_seconds: seconds }: TaskRecord): string {
  if (seconds < 60) return 'Task is still processing.';
  return seconds < 300 ? 'Task is actively running.' : 'Task is running a long operation.';
}

/** A program that a signal ended, and a session that could not begin, have no exit code. */
function failure({ exit_code, signal }: TaskRecord): string {
  if (exit_code !== null && exit_code !== 0) return `Task failed with exit code ${exit_code}`;
  return signal === null ? 'Task failed' : `Task failed: a signal ended it (${signal})`;
}

/** A session that the API refused leaves with code 0 and shows no error. */
function whereItSays(record: TaskRecord): string {
  if (record.trouble?.kind === 'context-full') return 'Its reason says why.';
  if (record.trouble != null) return `Its reason says why. ${goOnWords(record)}`;
  return record.last_output !== '' && record.exit_code !== 0
    ? 'Review the error output above.'
    : 'Its reason says why.';
}

/** A session with keep_open waits without a question: for the next message. */
function waitingHint(record: TaskRecord): string {
  const open = openDecisions(record);
  if (open.length > 0) {
    const ids = open.map((decision) => decision.decision_id).join(', ');
    const answers = open.some(({ questions = [] }) => questions.length > 0)
      ? ' (a question with answers)'
      : '';
    return `Task waits for an answer to decision${open.length === 1 ? '' : 's'} ${ids}. Answer with respond_to_task${answers}, then call wait_for_task.`;
  }
  if (record.trouble != null)
    return 'It is tried again automatically, as its reason says; wait_for_task reports whether the task goes on or fails. A message (message_task with interrupt) has it try at once.';
  if (isNative(record)) return 'The session waits for its person. wait_for_task reports when it goes on.';
  if (record.reason.endsWith(AT_TERMINAL))
    return 'Task waits for a person at its terminal. message_task with interrupt presses Esc there; wait_for_task reports when it goes on; kill_task ends it.';
  if (record.activity.startsWith(MESSAGE_WAITS))
    return `${record.activity}. It is tried again every ten seconds; get_task_output shows the screen, and message_task with interrupt presses Esc.`;
  return 'Task waits for a message. Send one with message_task, or end it with kill_task.';
}
