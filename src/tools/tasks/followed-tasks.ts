// Pure: what is loaded is given; the state is of one connection.
import { BridgeError, messageOf } from '../../base/errors.js';
import { isTaskId } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import { countOf, headBytes, oneLine, quotedLines, someNames } from '../../base/text.js';
import type { ClientTasks, FollowedState } from '../../mcp/client-tasks.js';
import type { PersonAnswer } from '../../mcp/person.js';
import { readable } from '../../mcp/answers.js';
import { usedWords } from '../../tasks/budget/budget.js';
import { lineWords, pollingHint } from '../../tasks/polling-hint.js';
import { BY_FORM } from '../../tasks/task-host.js';
import type { TaskService } from '../../tasks/task-service.js';
import { openDecisions, type Decision, type TaskRecord } from '../../tasks/task.js';
import { askView } from '../conversation/ask-view.js';
import { answerIn, passOn, taskForm } from './decision-form.js';
import { isOver } from './task-fields.js';

/**
 * Between two questions the client must see the task `working` once, or it shows no form for the second one: longer than a
 * poll of it.
 */
const PAUSE_MS = 1_500;
const WORDS_CHARS = 300;
/** Follows the id of a decision in the key of a form that is shown again: the client shows no key twice. */
const AGAIN = '.';
/** Of the late answers of a task, so many stand in its end: it is short. */
const MAX_LATE = 5;
/** Of all words of an end: they are in the context of the model from then on. */
const END_BYTES = 2_000;
const REASON_CHARS = 300;
const CANCELLED = 'Cancelled from the chat.';

/** What became of answers to one decision that were not taken. */
interface Refused {
  readonly count: number;
  /** Of the last one. */
  readonly atMs: number;
}

/**
 * The tasks of the bridge for clients that follow them. All but refused and late answers is read off the record, so any server answers.
 * `onLate` is called for an answer that changed nothing; the form that sent it shows no error.
 */
export function followedTasks(
  tasks: () => Promise<TaskService>,
  logger: Logger,
  nowMs: () => number,
  onLate: (record: TaskRecord, decision: Decision) => Promise<void>,
): ClientTasks {
  const refused = new Map<string, Refused>();
  /** Answers that came too late, in words: the record of a task that has ended does not change any more. */
  const late = new Map<string, Set<string>>();
  const answer = async (
    id: string,
    decisionId: string,
    said: PersonAnswer,
  ): Promise<'refused' | undefined> => {
    const service = await tasks();
    const record = await service.get(id);
    const decision = record.decisions.find(({ decision_id }) => decision_id === decisionId);
    if (decision === undefined) return undefined;
    const given = answerIn(taskForm(record, decision), decision, said);
    // The client's own repeat of an answer is not late.
    const isRepeat = decision.answered_by === BY_FORM && decision.verdict === given?.verdict;
    const after = isRepeat ? record : await passOn(id, given, service);
    if (after === undefined || given === undefined) return 'refused';
    const known = late.get(id) ?? new Set();
    const words = lateWords(decisionId, given.verdict);
    if (after !== 'late' || known.has(words)) return undefined;
    late.set(id, known.add(words));
    await onLate(record, decision);
    return undefined;
  };
  return {
    isId: isTaskId,
    get: async (id) => {
      const now = new Date(nowMs()).toISOString();
      try {
        const record = await (await tasks()).get(id);
        const state = stateOf(record, late.get(id) ?? [], refused, nowMs());
        return { id, createdAt: record.created_at, updatedAt: record.ended_at ?? now, state };
      } catch (thrown) {
        // It runs on there, as far as is known.
        if (thrown instanceof BridgeError && thrown.code === 'MACHINE_UNREACHABLE')
          return {
            id,
            createdAt: now,
            updatedAt: now,
            state: { status: 'working', words: messageOf(thrown) },
          };
        logger.warn('A task that a client follows could not be read', { id, error: messageOf(thrown) });
        const words = `The bridge cannot read ${id}: ${messageOf(thrown)} get_task_status shows whether it can again.`;
        return { id, createdAt: now, updatedAt: now, state: { status: 'failed', words } };
      }
    },
    answer: async (id, key, said) => {
      const decisionId = key.split(AGAIN)[0] ?? key;
      const outcome = await answer(id, decisionId, said).catch(messageOf);
      if (outcome === undefined) return;
      logger.info('An answer of a client that follows a task was not taken', { id, key, error: outcome });
      // The client shows no key twice: what is still open is asked again under another one.
      const name = refusedKey(id, decisionId);
      refused.set(name, { count: (refused.get(name)?.count ?? 0) + 1, atMs: nowMs() });
    },
    cancel: async (id) => {
      await tasks()
        .then((service) => service.kill(id, CANCELLED))
        .catch((thrown: unknown) =>
          logger.info('A task was not cancelled', { id, error: messageOf(thrown) }),
        );
    },
  };
}

function stateOf(
  record: TaskRecord,
  late: Iterable<string>,
  refused: ReadonlyMap<string, Refused>,
  nowMs: number,
): FollowedState {
  const { task_id, activity, reason } = record;
  if (isOver(record)) return endOf(record, [...new Set([...lateOf(record), ...late])].slice(-MAX_LATE));
  const refusedOf = ({ decision_id }: Decision) => refused.get(refusedKey(task_id, decision_id));
  const isPausing = record.decisions.some((decision) => {
    const { closed_at, answered_by } = decision;
    const closedMs = closed_at === null ? (refusedOf(decision)?.atMs ?? -Infinity) : Date.parse(closed_at);
    // No form showed what a rule answered.
    return answered_by !== 'rule' && closedMs > nowMs - PAUSE_MS;
  });
  const open = openDecisions(record).toSorted((a, b) => a.expires_at.localeCompare(b.expires_at));
  const [first] = open;
  if (first === undefined || isPausing)
    return {
      status: 'working',
      words: oneLine(`${lineWords(record)}${task_id}: ${activity || reason}`, WORDS_CHARS),
    };
  const times = refusedOf(first)?.count;
  return {
    status: 'input_required',
    words: oneLine(`${task_id} asks: ${first.summary}`, WORDS_CHARS),
    key: times === undefined ? first.decision_id : `${first.decision_id}${AGAIN}${times}`,
    form: taskForm(record, first, open.length),
  };
}

/** A question that was asked gets its answer; any other task its end. What was killed is cancelled, what did not succeed failed. */
function endOf(record: TaskRecord, late: readonly string[]): FollowedState {
  const words =
    record.purpose === 'ask' && record.answered === true ? readable(askView(record)) : endWords(record, late);
  if (record.status === 'killed') return { status: 'cancelled', words };
  const isGood = record.status === 'completed' || record.status === 'waiting';
  return { status: isGood ? 'completed' : 'failed', words };
}

function lateOf({ decisions }: TaskRecord): string[] {
  return decisions.flatMap(({ decision_id, late = [] }) =>
    late.map((verdict) => lateWords(decision_id, verdict)),
  );
}

function lateWords(decisionId: string, verdict: string): string {
  return `An answer from the chat came too late and changed nothing: ${verdict} for ${decisionId}.`;
}

function refusedKey(taskId: string, decisionId: string): string {
  return `${taskId} ${decisionId}`;
}

/** Status, reason, files, cost and the next step, at most 2 KB; the final message takes what is left. */
function endWords(record: TaskRecord, late: readonly string[]): string {
  const { task_id, status, files_changed, elapsed_seconds, final_message } = record;
  const used = usedWords(record);
  const facts = [
    `${task_id} is ${status}: ${oneLine(record.reason, REASON_CHARS)}`,
    `Time: ${Math.floor(elapsed_seconds)} s.${used === '' ? '' : ` Used: ${used}.`}`,
    ...(files_changed.length === 0 ? [] : [`Files: ${oneLine(someNames(files_changed), REASON_CHARS)}`]),
    ...late.map((words) => oneLine(words, REASON_CHARS)),
  ].join('\n');
  const next = pollingHint(record);
  const left = END_BYTES - Buffer.byteLength(facts) - Buffer.byteLength(next);
  return [facts, ...finalMessage(final_message, left), next].join('\n');
}

/** Each line with a mark before it, so that nothing in it looks like a fact of the bridge. */
function finalMessage(text: string, maxBytes: number): string[] {
  if (text === '') return [];
  const lines = quotedLines(text);
  const shown = headBytes(lines, Math.max(0, maxBytes - REASON_CHARS));
  const more = lines.length - shown.length;
  const rest = more === 0 ? '' : ` (${countOf(more)} characters more: get_task_result)`;
  return [`What the agent says of it${rest}:`, shown];
}
