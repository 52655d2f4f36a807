import { expect, it } from 'vitest';
import type { TaskStatus } from '../../../src/tasks/task.js';
import { checkHistory } from './check-history.js';
import type { AgentMark, Answer, Call, SeenTask } from './history.js';

const A = 'task_a';
const B = 'task_b';

function seen(taskId: string, status: TaskStatus, more: Partial<SeenTask> = {}): SeenTask {
  return { taskId, status, project: '/p', ...more };
}

function call(tool: string, startedMs: number, tasks: readonly SeenTask[], more: Partial<Call> = {}): Call {
  const taskId = tool === 'list_tasks' ? undefined : tasks[0]?.taskId;
  return {
    server: 'first',
    tool,
    startedMs,
    endedMs: startedMs + 5,
    answer: { kind: 'tasks', tasks, ...(tool === 'list_tasks' && { isWholeList: true }) },
    ...(taskId !== undefined && tool !== 'start_task' && { taskId }),
    ...more,
  };
}

const start = (startedMs: number, taskId: string, status: TaskStatus = 'running'): Call =>
  call('start_task', startedMs, [seen(taskId, status)]);
const look = (startedMs: number, taskId: string, status: TaskStatus, more: Partial<SeenTask> = {}): Call =>
  call('get_task_status', startedMs, [seen(taskId, status, more)]);
const refused = (code: string, text = `${code}: no.`): Answer => ({ kind: 'refused', code, text });
const closed = (words: string): Answer =>
  refused('DECISION_CLOSED', `DECISION_CLOSED: Decision dec_1 (Step 1 of x:) is closed: ${words}. Nothing.`);

function respond(startedMs: number, verdict: 'allow' | 'deny', answer?: Answer): Call {
  const response = { label: 'x', step: 1, decisionId: 'dec_1', verdict };
  return call('respond_to_task', startedMs, [seen(A, 'running')], {
    response,
    ...(answer !== undefined && { answer }),
  });
}

const begin = (label: string): AgentMark => ({ project: '/p', label, mark: 'begin' });
const overlap = (label: string): AgentMark => ({ project: '/p', label, mark: 'overlap' });
const end = (label: string): AgentMark => ({ project: '/p', label, mark: 'end' });
const got = (text: string): AgentMark => ({ project: '/p', label: 'x', mark: 'answer', step: 1, text });

function check(calls: readonly Call[], marks: readonly AgentMark[] = []): string[] {
  return checkHistory({ calls, marks });
}

const AT = '2030-01-01T00:00:00.000Z';

const late = (words: string): Call => respond(10, 'deny', closed(words));
const noAnswer: Answer = { kind: 'none', why: 'Connection closed' };
const unreadable: Answer = { kind: 'tasks', tasks: [], unreadable: [A], isWholeList: true };

it.each<[string, Call[], AgentMark[]?]>([
  [
    'tasks of one project one after the other, each with one end',
    [
      start(0, A),
      start(10, B, 'pending'),
      look(20, A, 'waiting'),
      look(30, A, 'completed', { end: { reason: 'done', ended_at: AT } }),
      look(40, B, 'running'),
      look(40, A, 'completed', { end: { reason: 'done' } }),
      call('list_tasks', 50, [seen(A, 'completed'), seen(B, 'killed')], { atEnd: true }),
    ],
    [begin('x'), end('x'), begin('y'), end('y')],
  ],
  ['one answer that was taken', [respond(0, 'allow'), late(`allow by caller at ${AT}`)], [got('y')]],
  [
    'an answer that was taken by a keeper that went before it said so',
    [respond(0, 'deny', noAnswer), respond(1, 'allow', closed(`deny by caller at ${AT}`))],
    [got('n')],
  ],
  ['a decision that was not answered', [respond(0, 'allow', closed(`withdrawn by session at ${AT}`))]],
  [
    'calls that know nothing of each other, as they were made at once',
    [look(0, A, 'killed'), look(4, A, 'running'), call('list_tasks', 0, []), start(0, A)],
  ],
])('a history may have %s', (_, calls, marks) => {
  expect(check(calls, marks)).toEqual([]);
});

it.each<[string, RegExp, Call[], AgentMark[]?]>([
  ['an agent that begins while another one has the project', /^one owner/, [], [begin('x'), overlap('y')]],
  ['an agent that still runs', /^one owner: .* x still ran/, [], [begin('x'), begin('y'), end('x')]],
  [
    'a start that is accepted while the task before it is still active',
    /^one owner: task_a and task_b/,
    [start(0, A), start(10, B), look(20, A, 'running'), look(30, B, 'running')],
  ],
  [
    'two ends of one task',
    /^one end: reason of task_a/,
    [look(0, A, 'killed', { end: { reason: 'one' } }), look(10, A, 'killed', { end: { reason: 'other' } })],
  ],
  [
    'a task that runs after its end',
    /^one end: task_a is waiting/,
    [look(0, A, 'killed'), look(10, A, 'waiting')],
  ],
  ['two answers that are taken', /answered 2 times/, [respond(0, 'allow'), respond(10, 'allow')]],
  [
    'a false word of the answer',
    /no caller answered/,
    [respond(0, 'allow'), late(`deny by caller at ${AT}`)],
  ],
  [
    'an answer that was not given',
    /no caller answered/,
    [respond(0, 'allow', closed(`deny by caller at ${AT}`))],
  ],
  [
    'two words of one answer',
    /in several ways/,
    [respond(0, 'deny'), late(`deny by caller at ${AT}`), late(`deny by caller at ${AT}0`)],
  ],
  ['an agent that got another answer', /the agent x got "n"/, [respond(0, 'allow')], [got('n')]],
  [
    'a server that does not know a task',
    /^nothing lost: first does not know task_a\.$/,
    [start(0, A), call('get_task_status', 10, [], { taskId: A, answer: refused('TASK_NOT_FOUND') })],
  ],
  ['a list without a task', /^nothing lost/, [start(0, A), call('list_tasks', 10, [seen(B, 'pending')])]],
  [
    'a task without an end when all is over',
    /^nothing lost: in the end task_a is waiting for first\.$/,
    [start(0, A), call('list_tasks', 10, [seen(A, 'waiting')], { atEnd: true })],
  ],
  [
    'a record that cannot be read when all is over',
    /^nothing lost: in the end task_a is unreadable/,
    [start(0, A), call('list_tasks', 10, [], { answer: unreadable, atEnd: true })],
  ],
  [
    'a server that does not answer when all is over',
    /^nothing lost: in the end list_tasks of all tasks has no answer/,
    [call('list_tasks', 20, [], { answer: noAnswer, atEnd: true })],
  ],
  [
    'a fault of the bridge itself',
    /^no fault of its own: kill_task/,
    [call('kill_task', 0, [], { answer: refused('INTERNAL_ERROR') })],
  ],
])('a history may not have %s', (_, words, calls, marks) => {
  expect(check(calls, marks)).toEqual([expect.stringMatching(words)]);
});
