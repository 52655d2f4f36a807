import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../src/base/logger.js';
import { serveConnection } from '../../src/mcp/server.js';
import { followDescriptions, followInstructions } from '../../src/tools/follow-words.js';
import { FollowedTaskService } from '../../src/tools/tasks/followed-tasks.js';
import { FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { MODERN_REVISION, serverParts } from './serving.js';

const NAMES = 'io.modelcontextprotocol/';
const EXTENSION = `${NAMES}tasks`;
const answerSchema = z.looseObject({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
type Answer = z.infer<typeof answerSchema>;

/** A client that writes its requests itself, each with or without the declaration of Tasks. */
async function rawClient(isServed = true) {
  const tasks = new FakeTaskService();
  const service = new FollowedTaskService(async () => tasks, silentLogger, Date.now);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const followed = {
    tasks: async () => service,
    instructions: followInstructions,
    descriptions: followDescriptions,
  };
  const connection = serveConnection(serverParts(tasks, isServed ? { followed } : {}), far);
  const waiting = new Map<number, (answer: Answer) => void>();
  near.onmessage = (message: JSONRPCMessage) => {
    const { data } = answerSchema.safeParse(message);
    if (data !== undefined) waiting.get(data.id)?.(data);
  };
  await near.start();
  onTestFinished(() => connection.close());
  let last = 0;
  const ask = (method: string, params: Record<string, unknown>, declares = true): Promise<Answer> => {
    const id = ++last;
    const capabilities = { elicitation: { form: {} }, ...(declares && { extensions: { [EXTENSION]: {} } }) };
    const _meta = {
      [`${NAMES}protocolVersion`]: MODERN_REVISION,
      [`${NAMES}clientInfo`]: { name: 'claude-code', version: '2.1.332' },
      [`${NAMES}clientCapabilities`]: capabilities,
    };
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    void near.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
    return answer;
  };
  const call = (name: string, args: Record<string, unknown>, declares = true) =>
    ask('tools/call', { name, arguments: args }, declares);
  return { tasks, ask, call };
}

const start = { prompt: 'Mend it.', path: '/home/ann/app' };

test('a call that declares Tasks is answered by the task, which is asked for, told and cancelled by its id', async () => {
  const { tasks, ask, call } = await rawClient();
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
  const { tasks, call } = await rawClient();
  tasks.records.set(OTHER_ID, taskRecord({ task_id: OTHER_ID }));
  const { result } = await call('wait_for_task', { task_ids: [OTHER_ID] });
  expect(result).toMatchObject({ resultType: 'task', taskId: OTHER_ID });
  tasks.change(OTHER_ID, { status: 'completed', ended_at: '2026-03-01T10:09:00.000Z' });
  const ended = await call('wait_for_task', { task_ids: [OTHER_ID], timeout_seconds: 0 });
  expect(ended.result).not.toHaveProperty('resultType', 'task');
});

test('only ids of another form are refused, and requests that do not declare Tasks', async () => {
  const { ask } = await rawClient();
  expect((await ask('tasks/get', { taskId: OTHER_ID })).result).toMatchObject({ status: 'failed' });
  expect((await ask('tasks/get', { taskId: '../etc' })).error).toMatchObject({ code: -32602 });
  const update = { taskId: OTHER_ID, inputResponses: { dec_1: { action: 'decline' } } };
  expect((await ask('tasks/update', update)).error).toBeUndefined();
  expect((await ask('tasks/get', { taskId: OTHER_ID }, false)).error?.message).toMatch(/capabilit/i);
});

test('a client that does not declare Tasks gets, byte for byte, what a server without them answers', async () => {
  const answers = async (isServed: boolean): Promise<string> => {
    const { ask, call } = await rawClient(isServed);
    return JSON.stringify([
      await ask('server/discover', {}, false),
      await ask('tools/list', {}, false),
      await call('start_task', start, false),
      await call('get_task_status', { task_id: TASK_ID }, false),
    ]);
  };
  expect(await answers(true)).toBe(await answers(false));
  const { ask } = await rawClient();
  expect(JSON.stringify(await ask('server/discover', {}))).toContain(EXTENSION);
  expect(JSON.stringify(await ask('tools/list', {}))).toContain(followDescriptions['start_task']);
});
