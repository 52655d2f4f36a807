// Pure: whether what clients and agents saw fits the model: one owner a project, one end a task, the first answer wins,
// nothing is lost.
import { isFinal } from '../../../src/tasks/task.js';
import type { AgentMark, Answer, Call, History, SeenTask } from './history.js';

/** What does not fit, one sentence each; empty for a history that fits. */
export function checkHistory(history: History): string[] {
  return [
    ...agentsAlone(history.marks),
    ...ownersAlone(history),
    ...oneEnd(history.calls),
    ...firstAnswerWins(history),
    ...nothingLost(history.calls),
    ...noInternalError(history.calls),
  ];
}

interface Sight {
  readonly call: Call;
  readonly task: SeenTask;
}

/** The agents of a project run one after the other: what one of them writes stands before all that the next one writes. */
function agentsAlone(marks: readonly AgentMark[]): string[] {
  const found: string[] = [];
  for (const [project, ofProject] of grouped(marks, ({ project }) => project)) {
    let current: string | undefined;
    const before = new Set<string>();
    for (const { label, mark } of ofProject) {
      if (mark === 'overlap')
        found.push(`one owner: the agent ${label} began in ${project} while ${current ?? 'another'} ran.`);
      if (label === current) continue;
      if (before.has(label))
        found.push(`one owner: the agent ${label} still ran in ${project} after ${current} had begun.`);
      if (current !== undefined) before.add(current);
      current = label;
    }
  }
  return found;
}

/**
 * Of two tasks of a project that were seen active, one was over before the other one was: the time from the first answer
 * that shows a task active to the last call whose answer does belongs to that task. A keeper gives the project back when its agent
 * has ended, and writes the end then: one that is halted in between shows a task as active whose agent was over before.
 */
function ownersAlone({ calls, marks }: History): string[] {
  const found: string[] = [];
  const projects = new Map(
    sightsOf(calls).flatMap(({ task }) => (task.project === undefined ? [] : [[task.taskId, task.project]])),
  );
  const active = sightsOf(calls).filter(({ task }) => task.status !== 'pending' && !isFinal(task.status));
  const spans = [...grouped(active, ({ task }) => task.taskId)].map(([taskId, sights]) => ({
    taskId,
    project: projects.get(taskId),
    fromMs: Math.min(...sights.map(({ call }) => call.endedMs)),
    toMs: Math.max(...sights.map(({ call }) => call.startedMs)),
  }));
  const agentOf = new Map(
    calls.flatMap(({ label, answer }) =>
      answer.kind === 'tasks' && label !== undefined
        ? answer.tasks.map(({ taskId }) => [taskId, label] as const)
        : [],
    ),
  );
  const wasOver = (taskId: string, before: string): boolean => {
    const place = (id: string, mark: AgentMark['mark']): number =>
      marks.findIndex((one) => one.label === agentOf.get(id) && one.mark === mark);
    const end = place(taskId, 'end');
    return end >= 0 && end < place(before, 'begin');
  };
  for (const [index, one] of spans.entries()) {
    for (const other of spans.slice(index + 1)) {
      if (one.project === undefined || one.project !== other.project) continue;
      if (wasOver(one.taskId, other.taskId) || wasOver(other.taskId, one.taskId)) continue;
      if (Math.max(one.fromMs, other.fromMs) < Math.min(one.toMs, other.toMs))
        found.push(`one owner: ${one.taskId} and ${other.taskId} were both active in ${one.project}.`);
    }
  }
  return found;
}

/** All servers tell the same end of a task, and once one has told it none tells that the task goes on. */
function oneEnd(calls: readonly Call[]): string[] {
  const found: string[] = [];
  for (const [taskId, sights] of grouped(sightsOf(calls), ({ task }) => task.taskId)) {
    const ends = sights.filter(({ task }) => isFinal(task.status));
    const knownMs = Math.min(...ends.map(({ call }) => call.endedMs));
    for (const { call, task } of sights) {
      if (!isFinal(task.status) && call.startedMs > knownMs)
        found.push(`one end: ${taskId} is ${task.status} for ${call.server} after its end was told.`);
    }
    const facts = new Map<string, string>();
    for (const { call, task } of ends) {
      for (const [name, value] of Object.entries({ status: task.status, ...task.end })) {
        const text = JSON.stringify(value);
        const told = facts.get(name) ?? text;
        facts.set(name, told);
        if (told !== text)
          found.push(`one end: ${name} of ${taskId} is ${told}, and ${text} for ${call.server}.`);
      }
    }
  }
  return found;
}

type Response = NonNullable<Call['response']> & { readonly taskId: string; readonly answer: Answer };

/** Of the answers to a decision one is taken; the others are told which one, and the agent gets that one. */
function firstAnswerWins({ calls, marks }: History): string[] {
  const responses = calls.flatMap(({ response, taskId = '', answer }): Response[] =>
    response === undefined ? [] : [{ ...response, taskId, answer }],
  );
  return [
    ...[...grouped(responses, ({ taskId, decisionId }) => `${decisionId} of ${taskId}`)].flatMap(
      ([decision, ofDecision]) => oneTaken(decision, ofDecision),
    ),
    ...marks.flatMap((mark) => (mark.mark === 'answer' ? rightAnswer(mark, responses) : [])),
  ];
}

const closedAs = /is closed: (\S+) by (\S+) at (\S+)\./;

function oneTaken(decision: string, responses: readonly Response[]): string[] {
  const found: string[] = [];
  const taken = responses.filter(({ answer }) => answer.kind === 'tasks');
  if (taken.length > 1) found.push(`first answer: ${decision} was answered ${taken.length} times.`);
  const told = responses.flatMap(({ answer }) =>
    answer.kind === 'refused' && answer.code === 'DECISION_CLOSED' ? [answer.text] : [],
  );
  const closings = new Set(told.map((text) => closedAs.exec(text)?.slice(1).join(' ') ?? text));
  if (closings.size > 1)
    found.push(`first answer: ${decision} is closed in several ways: ${[...closings].join('; ')}.`);
  for (const closing of closings) {
    const [verdict, by] = closing.split(' ');
    const possible = taken.length > 0 ? taken : responses.filter(({ answer }) => mayBeTaken(answer));
    const isCallers = by === 'caller' && possible.some((response) => response.verdict === verdict);
    if (!isCallers && (taken.length > 0 || by === 'caller'))
      found.push(`first answer: ${decision} is closed as "${closing}", which no caller answered.`);
  }
  return found;
}

/** What the agent read at its terminal was answered by somebody; when one answer was taken it is that one. */
function rightAnswer(
  { label, step, text }: Extract<AgentMark, { readonly mark: 'answer' }>,
  responses: readonly Response[],
): string[] {
  const toStep = responses.filter((response) => response.label === label && response.step === step);
  const taken = toStep.filter(({ answer }) => answer.kind === 'tasks');
  const possible = taken.length > 0 ? taken : toStep.filter(({ answer }) => mayBeTaken(answer));
  if (possible.some(({ verdict }) => text === (verdict === 'allow' ? 'y' : 'n'))) return [];
  return [`first answer: the agent ${label} got "${text}" at step ${step}, which no caller answered.`];
}

const NOT_TAKEN: readonly string[] = ['DECISION_CLOSED', 'DECISION_NOT_FOUND', 'INVALID_ARGUMENTS'];

/** A keeper may take an answer and go before it says so. */
function mayBeTaken(answer: Answer): boolean {
  return answer.kind !== 'refused' || !NOT_TAKEN.includes(answer.code);
}

/** A task whose start was told is known to every server from then on, and has an end when all is over. */
function nothingLost(calls: readonly Call[]): string[] {
  const found: string[] = [];
  const toldMs = new Map<string, number>();
  for (const { tool, answer, endedMs } of calls) {
    if (tool !== 'start_task' || answer.kind !== 'tasks') continue;
    for (const { taskId } of answer.tasks) toldMs.set(taskId, endedMs);
  }
  for (const call of calls) {
    const known = [...toldMs].filter(([, ms]) => ms < call.startedMs).map(([taskId]) => taskId);
    const missing = missingIn(call, known);
    if (missing.length > 0) found.push(`nothing lost: ${call.server} does not know ${missing.join(', ')}.`);
    if (call.atEnd !== true) continue;
    for (const word of openIn(call)) found.push(`nothing lost: in the end ${word} for ${call.server}.`);
  }
  return found;
}

function missingIn({ answer, taskId }: Call, known: readonly string[]): readonly string[] {
  if (answer.kind === 'refused' && answer.code === 'TASK_NOT_FOUND')
    return known.filter((id) => id === taskId);
  if (answer.kind !== 'tasks' || answer.isWholeList !== true) return [];
  const listed = new Set([...answer.tasks.map((task) => task.taskId), ...(answer.unreadable ?? [])]);
  return known.filter((id) => !listed.has(id));
}

function openIn({ answer, tool, taskId }: Call): string[] {
  if (answer.kind !== 'tasks') return [`${tool} of ${taskId ?? 'all tasks'} has no answer`];
  return [
    ...(answer.unreadable ?? []).map((id) => `${id} is unreadable`),
    ...answer.tasks
      .filter(({ status }) => !isFinal(status))
      .map((task) => `${task.taskId} is ${task.status}`),
  ];
}

function noInternalError(calls: readonly Call[]): string[] {
  return calls.flatMap(({ tool, server, answer }) =>
    answer.kind === 'refused' && answer.code === 'INTERNAL_ERROR'
      ? [`no fault of its own: ${tool} of ${server} answered ${answer.text}`]
      : [],
  );
}

function sightsOf(calls: readonly Call[]): Sight[] {
  return calls.flatMap((call) =>
    call.answer.kind === 'tasks' ? call.answer.tasks.map((task) => ({ call, task })) : [],
  );
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
