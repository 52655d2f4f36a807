import { expect, onTestFinished, test, vi } from 'vitest';
import { decision, TASK_ID } from '../tools/fake-task-service.js';
import { startServing } from './serving.js';

/** The shortest wait in which a person is asked takes five seconds. */
const WAIT_SECONDS = 6;

test('a person of the legacy era who answers after the call has returned has answered; the form is shown once, and taken back when the model answers', async () => {
  let forms = 0;
  let taken = 0;
  let accept: () => void = () => undefined;
  const serving = await startServing('legacy', undefined, {}, 'test', { elicitation: {} }, (one) =>
    one.setRequestHandler('elicitation/create', (_request, { mcpReq }) => {
      forms++;
      mcpReq.signal.addEventListener('abort', () => taken++);
      return new Promise((resolve) => (accept = () => resolve({ action: 'accept', content: {} })));
    }),
  );
  onTestFinished(() => serving.close());
  const { client, tasks } = serving;
  const wait = () =>
    client.callTool({
      name: 'wait_for_task',
      arguments: { task_ids: [TASK_ID], timeout_seconds: WAIT_SECONDS },
    });
  const open = () =>
    tasks.change(TASK_ID, {
      status: 'waiting',
      decisions: [decision({ expires_at: new Date(Date.now() + 60_000).toISOString() })],
    });

  const first = wait();
  await vi.waitFor(() => expect(tasks.waiting).toBe(1));
  open();
  expect((await first).structuredContent).toMatchObject({ tasks: [{ status: 'waiting' }] });
  // It ends with the connection.
  wait().catch(() => undefined);
  await vi.waitFor(() => expect(tasks.waiting).toBe(1));
  open();
  expect(forms).toBe(1);
  accept();
  await vi.waitFor(() => expect(tasks.answers.length).toBeGreaterThan(0));
  expect(tasks.answers[0]).toMatchObject({ decision_id: 'dec_1', verdict: 'allow', by: 'elicitation' });
  expect(forms).toBe(1);

  const third = wait();
  await vi.waitFor(() => expect(tasks.waiting).toBe(2));
  open();
  await vi.waitFor(() => expect(forms).toBe(2));
  await client.callTool({
    name: 'respond_to_task',
    arguments: { task_id: TASK_ID, decision_id: 'dec_1', verdict: 'allow' },
  });
  await vi.waitFor(() => expect(taken).toBe(1));
  third.catch(() => undefined);
});
