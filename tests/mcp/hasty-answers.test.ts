import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serveConnection } from '../../src/mcp/server.js';
import { decision, FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serverParts } from './serving.js';

/** As long as a person takes at least. */
const READING_MS = 400;

/** A wait for a task with a question, at a client that says no to every form after a time. */
async function waitAt(era: 'legacy' | 'modern', declinesAfterMs: number) {
  const tasks = new FakeTaskService(taskRecord());
  const [near, far] = InMemoryTransport.createLinkedPair();
  const connection = serveConnection(serverParts(tasks), far);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
      capabilities: { elicitation: {} },
    },
  );
  let isDeclined = false;
  client.setRequestHandler('elicitation/create', async () => {
    await setTimeout(declinesAfterMs);
    isDeclined = true;
    return { action: 'decline' };
  });
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await connection.close();
  });
  const waited = client.callTool({ name: 'wait_for_task', arguments: { task_ids: [TASK_ID] } });
  waited.catch(() => undefined); // It may end with the connection.
  const open = async (): Promise<void> => {
    await vi.waitFor(() => expect(tasks.waiting).toBe(1));
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    tasks.change(TASK_ID, { status: 'waiting', decisions: [decision({ expires_at })] });
  };
  await open();
  if (era === 'modern') {
    // The answer comes with the same call, made again.
    await vi.waitFor(() => expect(isDeclined).toBe(true));
    await open();
  }
  return { tasks, waited };
}

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  test('a client that declines a form quicker than a person reads it has denied nothing: the model gets the question', async () => {
    const { tasks, waited } = await waitAt(era, 0);
    expect((await waited).structuredContent).toMatchObject({
      tasks: [{ status: 'waiting', decisions: [{ decision_id: 'dec_1' }] }],
    });
    expect(tasks.answers).toEqual([]);
  });

  test('a person who declines has denied', async () => {
    const { tasks } = await waitAt(era, READING_MS);
    await vi.waitFor(() => expect(tasks.answers).toMatchObject([{ verdict: 'deny', by: 'elicitation' }]));
  });
});
