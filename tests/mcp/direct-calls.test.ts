import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Emitter, nextEvent } from '../../src/base/event.js';
import { silentLogger } from '../../src/base/logger.js';
import { DirectCalls } from '../../src/mcp/direct-calls.js';
import { serveConnection } from '../../src/mcp/server.js';
import { StdioWire } from '../../src/mcp/stdio-wire.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { initialize, RawReplies, request } from './raw-client.js';
import { serverParts } from './serving.js';

/** Makes the SDK answer: a name that an ordinary call has not. */
const DETOUR = { inputResponses: {} };

describe.each([false, true])(
  'a call of a tool by a client of the legacy era, as text alone: %s',
  (textOnly) => {
    let input: PassThrough;
    let replies: RawReplies;
    let tasks: FakeTaskService;
    let connection: { close(): Promise<void> };

    beforeEach(async () => {
      input = new PassThrough();
      replies = new RawReplies();
      tasks = new FakeTaskService(taskRecord());
      const wire = new StdioWire(input, {
        write: (text, done) => {
          replies.take(text.toString());
          done();
        },
        unreadBytes: 0,
      });
      connection = serveConnection(serverParts(tasks, { textOnly }), wire);
      input.write(initialize('hello'));
      await replies.answerTo('hello');
    });

    afterEach(() => connection.close());

    it.each([
      ['an answer', { name: 'get_task_status', arguments: { task_id: TASK_ID } }],
      ['an answer without arguments', { name: 'list_tasks' }],
      ['an expected fault', { name: 'start_task', arguments: { prompt: 'x', path: '/busy' } }],
      ['a fault of the bridge', { name: 'start_task', arguments: { prompt: 'x', path: '/bug' } }],
      ['arguments that do not fit', { name: 'start_task', arguments: { prompt: 1 } }],
      ['arguments that are no object', { name: 'list_tasks', arguments: [] }],
      ['a tool that does not exist', { name: 'list_task', arguments: {} }],
      ['no tool', { arguments: {} }],
      ['a token for progress', { name: 'list_tasks', _meta: { progressToken: 7, 'vendor/id': 'x' } }],
    ])('is answered as the SDK answers it: %s', async (_, params) => {
      input.write(request(1, 'tools/call', params));
      input.write(request(2, 'tools/call', { ...params, ...DETOUR }));
      const [direct, detour] = [await replies.answerTo(1), await replies.answerTo(2)];
      expect({ ...direct, id: 0 }).toEqual({ ...detour, id: 0 });
    });

    it('tells its progress by the token that it came with', async () => {
      const called = waits(tasks);
      input.write(
        request(1, 'tools/call', {
          name: 'wait_for_task',
          arguments: { task_ids: [TASK_ID] },
          _meta: { progressToken: 'p' },
        }),
      );
      (await called).finish();
      await replies.answerTo(1);
      const told = replies.messages.filter(({ method }) => method === 'notifications/progress');
      expect(told).toMatchObject([{ params: { progressToken: 'p', progress: 1, message: 'waiting' } }]);
    });

    it('that is cancelled ends, and is answered by nobody', async () => {
      const called = waits(tasks);
      const args = { task_ids: [TASK_ID] };
      input.write(request(1, 'tools/call', { name: 'wait_for_task', arguments: args }));
      const { signal } = await called;
      input.write(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })}\n`,
      );
      input.write(request(2, 'ping'));
      await replies.answerTo(2);
      expect(signal.aborted).toBe(true);
      expect(replies.messages.filter(({ id }) => id === 1)).toEqual([]);
    });

    it('ends with the connection', async () => {
      const called = waits(tasks);
      const args = { task_ids: [TASK_ID] };
      input.write(request(1, 'tools/call', { name: 'wait_for_task', arguments: args }));
      const { signal } = await called;
      await connection.close();
      expect(signal.aborted).toBe(true);
      expect(replies.messages.filter(({ id }) => id === 1)).toEqual([]);
    });
  },
);

describe('which calls are taken from the SDK', () => {
  const parts = serverParts(new FakeTaskService(taskRecord()), { logger: silentLogger });
  const call = (params: Record<string, unknown>) =>
    ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) as const;
  const hello = (params: Record<string, unknown>) =>
    ({ jsonrpc: '2.0', id: 0, method: 'initialize', params }) as const;
  const welcome = { jsonrpc: '2.0', id: 0, result: {} } as const;
  let direct: DirectCalls<typeof parts.services>;

  beforeEach(() => {
    direct = new DirectCalls({
      tools: new Map(parts.tools.map((tool) => [tool.name, tool])),
      host: parts,
      wire: { start: async () => undefined, send: async () => undefined, close: async () => undefined },
      server: () => undefined,
    });
  });

  it('none before initialize was answered', () => {
    expect(direct.takes(call({ name: 'list_tasks' }))).toBe(false);
    direct.takes(hello({ capabilities: {} }));
    expect(direct.takes(call({ name: 'list_tasks' }))).toBe(false);
    direct.sent(welcome);
    expect(direct.takes(call({ name: 'list_tasks' }))).toBe(true);
  });

  it('none when initialize was refused', () => {
    direct.takes(hello({ capabilities: {} }));
    direct.sent({ jsonrpc: '2.0', id: 0, error: { code: -32600, message: 'no' } });
    expect(direct.takes(call({ name: 'list_tasks' }))).toBe(false);
  });

  it('none when initialize came with what belongs to the modern era', () => {
    direct.takes(
      hello({ capabilities: {}, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }),
    );
    direct.sent(welcome);
    expect(direct.takes(call({ name: 'list_tasks' }))).toBe(false);
  });

  it.each([
    { name: 'list_tasks', inputResponses: {} },
    { name: 'list_tasks', requestState: 'x' },
    { name: 'list_tasks', task: { ttl: 1 } },
    { name: 'list_tasks', arguments: 'x' },
    { name: 'no_such_tool' },
    { name: 7 },
    { name: 'list_tasks', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
  ])('not what is out of the ordinary: %j', (params) => {
    direct.takes(hello({ capabilities: {} }));
    direct.sent(welcome);
    expect(direct.takes(call(params))).toBe(false);
  });
});

/** Makes `wait_for_task` wait until it is told to finish, or cancelled; resolves when it is called. */
function waits(tasks: FakeTaskService): Promise<{ readonly signal: AbortSignal; finish(): void }> {
  const calls = new Emitter<{ readonly signal: AbortSignal; finish(): void }>();
  tasks.wait = ({ signal, onProgress }) =>
    new Promise((resolve) => {
      const finish = () => resolve({ tasks: [], changed: [], cursor: '' });
      onProgress?.('waiting');
      signal.addEventListener('abort', finish);
      calls.fire({ signal, finish });
    });
  return nextEvent(calls.event);
}
