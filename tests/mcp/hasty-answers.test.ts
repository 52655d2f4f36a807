import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decision, TASK_ID } from '../tools/fake-task-service.js';
import { eras, startServing, type Era } from './serving.js';

/** As long as a person takes at least. */
const READING_MS = 400;

/** A wait for a task with a question, at a client that says no to every form after a time. */
async function waitAt(era: Era, declinesAfterMs: number) {
  let isDeclined = false;
  const serving = await startServing(era, undefined, {}, 'test', { elicitation: {} }, (one) =>
    one.setRequestHandler('elicitation/create', async () => {
      await setTimeout(declinesAfterMs);
      isDeclined = true;
      return { action: 'decline' };
    }),
  );
  onTestFinished(() => serving.close());
  const { client, tasks } = serving;
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

describe.each(eras)('in the %s era', (era) => {
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
