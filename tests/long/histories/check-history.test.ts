import { describe, expect, it } from 'vitest';
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

describe('a history that fits', () => {
  it('has tasks of one project one after the other, each with one end', () => {
    const calls = [
      start(0, A),
      start(10, B, 'pending'),
      look(20, A, 'waiting'),
      look(30, A, 'completed', { end: { reason: 'done', ended_at: AT } }),
      look(40, B, 'running'),
      look(40, A, 'completed', { end: { reason: 'done' } }),
      call('list_tasks', 50, [seen(A, 'completed'), seen(B, 'killed')], { atEnd: true }),
    ];
    expect(check(calls, [begin('x'), end('x'), begin('y'), end('y')])).toEqual([]);
  });

  it('has answers of which one was taken, and the others were told which', () => {
    const late = closed(`allow by caller at ${AT}`);
    expect(check([respond(0, 'allow'), respond(1, 'deny', late)], [begin('x'), got('y')])).toEqual([]);
  });

  it('may have an answer that was taken by a keeper that went before it said so', () => {
    const calls = [
      respond(0, 'deny', { kind: 'none', why: 'Connection closed' }),
      respond(1, 'allow', closed(`deny by caller at ${AT}`)),
    ];
    expect(check(calls, [begin('x'), got('n')])).toEqual([]);
    const gone = refused('TASK_NOT_RUNNING', 'TASK_NOT_RUNNING: it ended before it answered.');
    expect(check([respond(0, 'deny', gone)], [begin('x'), got('n')])).toEqual([]);
  });

  it('may have a decision that nobody answered', () => {
    expect(check([respond(0, 'allow', closed(`withdrawn by session at ${AT}`))], [begin('x')])).toEqual([]);
  });

  it('may have calls that know nothing of each other, as they were made at once', () => {
    const calls = [look(0, A, 'killed'), look(4, A, 'running'), call('list_tasks', 0, []), start(0, A)];
    expect(check(calls)).toEqual([]);
  });

  it('may have tasks of two projects at once', () => {
    const other = { project: '/q' };
    const calls = [start(0, A), call('start_task', 0, [seen(B, 'running', other)])];
    expect(check([...calls, look(20, A, 'running'), look(20, B, 'running', other)])).toEqual([]);
  });
});

describe('one owner', () => {
  it('is broken by an agent that begins while another one has the project', () => {
    expect(check([], [begin('x'), overlap('y')])).toEqual([expect.stringMatching(/^one owner: .* y began/)]);
  });

  it('is broken by an agent that goes on after the next one began', () => {
    expect(check([], [begin('x'), begin('y'), end('x')])).toEqual([
      expect.stringMatching(/^one owner: .* x still ran/),
    ]);
  });

  it('is broken by a start that is accepted while the task before it is still active', () => {
    const wrong = [start(0, A), start(10, B), look(20, A, 'running'), look(30, B, 'running')];
    expect(check(wrong)).toEqual([expect.stringMatching(/^one owner: task_a and task_b/)]);
  });
});

describe('one end', () => {
  it.each([
    ['status', 'failed', {}, {}],
    ['reason', 'killed', { reason: 'one' }, { reason: 'another' }],
    ['ended_at', 'killed', { ended_at: AT }, { ended_at: '2030-01-01T00:00:00.001Z' }],
    ['exit_code', 'killed', { exit_code: null }, { exit_code: 0 }],
  ] as const)('is broken by two servers that tell another %s', (name, status, one, other) => {
    const calls = [look(0, A, 'killed', { end: one }), look(10, A, status, { end: other })];
    expect(check(calls)).toEqual([expect.stringMatching(new RegExp(`^one end: ${name} of task_a`))]);
  });

  it.each(['pending', 'starting', 'running', 'waiting'] as const)(
    'is broken by %s after an end',
    (status) => {
      expect(check([look(0, A, 'killed'), look(10, A, status)])).toEqual([
        expect.stringMatching(new RegExp(`^one end: task_a is ${status}`)),
      ]);
    },
  );
});

describe('the first answer wins', () => {
  it('is broken by two answers that are taken', () => {
    expect(check([respond(0, 'allow'), respond(10, 'allow')])).toEqual([
      expect.stringMatching(/^first answer: dec_1 of task_a was answered 2 times/),
    ]);
  });

  it.each([`deny by caller at ${AT}`, `allow by deadline at ${AT}`, `withdrawn by session at ${AT}`])(
    'is broken by a later one that is told "%s" when allow was taken',
    (words) => {
      expect(check([respond(0, 'allow'), respond(10, 'deny', closed(words))])).toEqual([
        expect.stringMatching(/^first answer: .* which nobody answered/),
      ]);
    },
  );

  it('is broken by later ones that are told different things', () => {
    const later = [`deny by caller at ${AT}`, `deny by caller at ${AT}0`].map((words, index) =>
      respond(10 + index, 'deny', closed(words)),
    );
    expect(check([respond(0, 'deny'), ...later])).toEqual([expect.stringMatching(/in several ways/)]);
  });

  it('is broken by an answer that is said to be a caller’s, and no caller gave it', () => {
    const calls = [respond(0, 'allow', closed(`deny by caller at ${AT}`))];
    expect(check(calls)).toEqual([expect.stringMatching(/^first answer: .* which nobody answered/)]);
  });

  it.each(['n', ''])('is broken by an agent that got "%s" when allow was taken', (text) => {
    const calls = [respond(0, 'allow'), respond(1, 'deny', { kind: 'none', why: 'Connection closed' })];
    expect(check(calls, [begin('x'), got(text)])).toEqual([
      expect.stringMatching(/^first answer: the agent x got/),
    ]);
  });
});

describe('nothing is lost', () => {
  it('is broken by a server that does not know a task that was started before', () => {
    const ask = call('get_task_status', 10, [], { taskId: A, answer: refused('TASK_NOT_FOUND') });
    expect(check([start(0, A), ask])).toEqual(['nothing lost: first does not know task_a.']);
  });

  it('is broken by a list without it', () => {
    expect(check([start(0, A), call('list_tasks', 10, [seen(B, 'pending')])])).toEqual([
      'nothing lost: first does not know task_a.',
    ]);
  });

  it('is broken by a task without an end when all is over', () => {
    const last = call('list_tasks', 10, [seen(A, 'waiting')], { atEnd: true });
    expect(check([start(0, A), last])).toEqual(['nothing lost: in the end task_a is waiting for first.']);
  });

  it('is broken by a record that cannot be read, or a server that does not answer, when all is over', () => {
    const unreadable = call('list_tasks', 10, [], {
      answer: { kind: 'tasks', tasks: [], unreadable: [A], isWholeList: true },
      atEnd: true,
    });
    const silent = call('list_tasks', 20, [], { answer: { kind: 'none', why: 'closed' }, atEnd: true });
    expect(check([start(0, A), unreadable, silent])).toEqual([
      'nothing lost: in the end task_a is unreadable for first.',
      'nothing lost: in the end list_tasks of all tasks has no answer for first.',
    ]);
  });
});

it('a fault of the bridge’s own fits no history', () => {
  const broken = call('kill_task', 0, [], { answer: refused('INTERNAL_ERROR') });
  expect(check([broken])).toEqual([expect.stringMatching(/^no fault of its own: kill_task/)]);
});
