import { expect, it } from 'vitest';
import { continuedSession } from '../../src/tasks/continued-session.js';
import { WAITS_FOR_MESSAGE, type TaskRecord } from '../../src/tasks/task.js';
import { TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const SESSION = '11111111-1111-4111-8111-111111111111';
const ended: Partial<TaskRecord> = { status: 'completed', session_id: SESSION, project_path: '/real/app' };

function continued(origin: string, path: string, changes: Partial<TaskRecord> = {}) {
  const record = taskRecord({ ...ended, ...changes });
  return continuedSession(origin, path, async (id) => (id === TASK_ID ? record : undefined));
}

it.each([TASK_ID, TASK_ID.replace('task_', 'response_')])(
  '%s is continued from the end of its session',
  async (origin) => {
    expect(await continued(origin, '/real/app')).toEqual({ sessionId: SESSION, messageId: null });
  },
);

it('a task that failed or was killed can be continued', async () => {
  expect(await continued(TASK_ID, '/real/app', { status: 'killed' })).toMatchObject({ sessionId: SESSION });
});

it('a session that a person started is continued when it is idle or has ended', async () => {
  const native = { driver: 'native' } as const;
  expect(await continued(TASK_ID, '/real/app', native)).toMatchObject({ sessionId: SESSION });
  const idle = { ...native, status: 'waiting', reason: `The turn is over; ${WAITS_FOR_MESSAGE}` } as const;
  expect(await continued(TASK_ID, '/real/app', idle)).toMatchObject({ sessionId: SESSION });
  await expect(continued(TASK_ID, '/real/app', { ...native, status: 'running' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    hint: 'Wait until it is idle or has ended, with wait_for_task.',
  });
});

it('another directory is refused by the names of both', async () => {
  await expect(continued(TASK_ID, '/real/other')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: `${TASK_ID} worked in /real/app, and path is /real/other: Claude Code keeps sessions by directory.`,
  });
});

it.each<[string, string, Partial<TaskRecord>, string, RegExp]>([
  ['what is no id', '--resume', {}, 'INVALID_ARGUMENTS', /'--resume'/],
  ['an unknown task', 'task_ffffffffffffffffffff', {}, 'TASK_NOT_FOUND', /not known/],
  ['an unknown response', 'response_ffffffffffffffffffff', {}, 'TASK_NOT_FOUND', /response_f/],
  ['a task that runs', TASK_ID, { status: 'running' }, 'INVALID_ARGUMENTS', /has not ended/],
  ['a program that is not Claude', TASK_ID, { session_id: null }, 'INVALID_ARGUMENTS', /no session/],
])('%s is refused', async (_, origin, changes, code, message) => {
  const refusal = continued(origin, '/real/app', changes);
  await expect(refusal).rejects.toMatchObject({ code });
  await expect(refusal).rejects.toThrow(message);
});
