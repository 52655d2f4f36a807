import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Emitter, nextEvent } from '../../src/base/event.js';
import { serveConnection } from '../../src/mcp/server.js';
import { StdioWire } from '../../src/mcp/wire/stdio-wire.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { initialize, RawReplies, request } from './raw-client.js';
import { serverParts } from './serving.js';

describe('a call of a tool by a client of the legacy era', () => {
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
        replies.take(text);
        done();
      },
      unreadBytes: 0,
    });
    connection = serveConnection(serverParts(tasks), wire);
    input.write(initialize('hello'));
    await replies.answerTo('hello');
  });

  afterEach(() => connection.close());

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
