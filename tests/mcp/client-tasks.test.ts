import { expect, test } from 'vitest';
import { followWords } from '../../src/tools/instructions.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { tasksClient, TASKS_EXTENSION } from './tasks-client.js';

const start = { prompt: 'Mend it.', path: '/home/ann/app' };

test('a call that declares Tasks is answered by the task, which is asked for, told and cancelled by its id', async () => {
  const { tasks, ask, call } = await tasksClient();
  await ask('server/discover', {});
  const { result } = await call('start_task', start);
  expect(result).toMatchObject({ resultType: 'task', content: [], taskId: TASK_ID, status: 'working' });
  expect((await ask('tasks/get', { taskId: TASK_ID })).result).toMatchObject({
    status: 'working',
    ttlMs: null,
  });
  const again = await call('wait_for_task', { task_ids: [TASK_ID] });
  expect(again.result).not.toHaveProperty('resultType', 'task');
  expect(JSON.stringify(again.result)).toContain('do not poll');
  tasks.change(TASK_ID, {
    status: 'completed',
    ended_at: '2026-03-01T10:09:00.000Z',
    final_message: 'Mended.',
  });
  const ended = await ask('tasks/get', { taskId: TASK_ID });
  expect(ended.result).toMatchObject({ status: 'completed', result: { content: [{ type: 'text' }] } });
  expect(JSON.stringify(ended.result)).toContain('| Mended.');
  expect(ended.result).not.toHaveProperty('result.structuredContent');
  tasks.change(TASK_ID, { status: 'running', ended_at: null });
  for (const _ of [1, 2]) expect((await ask('tasks/cancel', { taskId: TASK_ID })).error).toBeUndefined();
  expect((await ask('tasks/get', { taskId: TASK_ID })).result).toMatchObject({ status: 'cancelled' });
});

test('a task that another client started is followed from the first wait on', async () => {
  const { tasks, call } = await tasksClient();
  tasks.records.set(OTHER_ID, taskRecord({ task_id: OTHER_ID }));
  const { result } = await call('wait_for_task', { task_ids: [OTHER_ID] });
  expect(result).toMatchObject({ resultType: 'task', taskId: OTHER_ID });
  tasks.change(OTHER_ID, { status: 'completed', ended_at: '2026-03-01T10:09:00.000Z' });
  const ended = await call('wait_for_task', { task_ids: [OTHER_ID], timeout_seconds: 0 });
  expect(ended.result).not.toHaveProperty('resultType', 'task');
});

test('a client that shows no more forms of a task has its model called, which follows the task again', async () => {
  const { tasks, ask, call } = await tasksClient();
  await call('start_task', start);
  const asks = async (at: number) => {
    const open = decision({ decision_id: `dec_${at}`, expires_at: '2099-01-01T00:00:00.000Z' });
    tasks.change(TASK_ID, { status: 'waiting', decisions: [open] });
    return (await ask('tasks/get', { taskId: TASK_ID })).result;
  };
  for (let at = 1; at <= 16; at++) expect(await asks(at)).toMatchObject({ status: 'input_required' });
  const called = await asks(17);
  expect(called).toMatchObject({ status: 'completed' });
  expect(JSON.stringify(called)).toContain('call wait_for_task');
  const again = await call('wait_for_task', { task_ids: [TASK_ID] });
  expect(again.result).toMatchObject({ resultType: 'task', inputRequests: { dec_17: {} } });
  expect(await asks(18)).toMatchObject({ status: 'input_required' });
});

test('only ids of another form are refused, and requests that do not declare Tasks', async () => {
  const { ask } = await tasksClient();
  expect((await ask('tasks/get', { taskId: OTHER_ID })).result).toMatchObject({ status: 'failed' });
  expect((await ask('tasks/get', { taskId: '../etc' })).error).toMatchObject({ code: -32602 });
  const update = { taskId: OTHER_ID, inputResponses: { dec_1: { action: 'decline' } } };
  expect((await ask('tasks/update', update)).error).toBeUndefined();
  expect((await ask('tasks/get', { taskId: OTHER_ID }, false)).error?.message).toMatch(/capabilit/i);
});

test('a client that does not declare Tasks gets, byte for byte, what a server without them answers', async () => {
  const answers = async (isServed: boolean): Promise<string> => {
    const { ask, call } = await tasksClient(new FakeTaskService(), isServed);
    return JSON.stringify([
      await ask('server/discover', {}, false),
      await ask('tools/list', {}, false),
      await call('start_task', start, false),
      await call('get_task_status', { task_id: TASK_ID }, false),
    ]);
  };
  expect(await answers(true)).toBe(await answers(false));
  const { ask } = await tasksClient();
  expect(JSON.stringify(await ask('server/discover', {}))).toContain(TASKS_EXTENSION);
  expect(JSON.stringify(await ask('tools/list', {}))).toContain(followWords.descriptions['start_task']);
});
