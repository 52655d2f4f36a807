import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import {
  ConversationManager,
  responseOf,
  statusOfAsk,
} from '../../src/conversations/conversation-manager.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { tmpdir } from 'node:os';

const RESPONSE_ID = TASK_ID.replace('task_', 'response_');
const SESSION = '11111111-1111-4111-8111-111111111111';
const MESSAGE = '22222222-2222-4222-8222-222222222222';

async function conversationOver(tasks: FakeTaskService, skipPermissions = false) {
  const roots = new AllowedRoots([tmpdir()], '/home/ann');
  const here = await roots.resolveDirectory(tmpdir());
  const project = { resolve: async (path?: string) => roots.resolveDirectory(path ?? here) };
  const manager = new ConversationManager({ tasks, project, clock: systemClock, skipPermissions });
  return { manager, here };
}

function answered(path: string) {
  return taskRecord({
    status: 'completed',
    purpose: 'ask',
    project_path: path,
    session_id: SESSION,
    message_id: MESSAGE,
    final_message: 'Forty-two.',
  });
}

describe('a question', () => {
  it('runs in print mode as a question, under the rules unless the user set otherwise', async () => {
    const tasks = new FakeTaskService();
    const { manager, here } = await conversationOver(tasks);
    await manager.ask({ prompt: 'Why?' });
    expect(tasks.started).toMatchObject([
      {
        prompt: 'Why?',
        path: here,
        purpose: 'ask',
        driver: 'print',
        skipPermissions: false,
        resume: undefined,
      },
    ]);
    const free = new FakeTaskService();
    await (await conversationOver(free, true)).manager.ask({ prompt: 'Why?' });
    expect(free.started).toMatchObject([{ skipPermissions: true }]);
  });

  it.each([
    ['that is no id', 'last one', 'RESPONSE_NOT_FOUND'],
    ['that nobody knows', 'response_ffffffffffffffffffff', 'RESPONSE_NOT_FOUND'],
    ['that was never given', RESPONSE_ID, 'INVALID_ARGUMENTS'],
  ])('after a response %s is refused', async (_, previousResponseId, code) => {
    const tasks = new FakeTaskService(taskRecord({ purpose: 'ask', status: 'failed', session_id: SESSION }));
    const { manager } = await conversationOver(tasks);
    await expect(manager.ask({ prompt: 'x', previousResponseId })).rejects.toMatchObject({ code });
    expect(tasks.started).toEqual([]);
  });
});

describe('waiting for an answer', () => {
  const signal = new AbortController().signal;

  it('ends when the time is over, with the question as it is', async () => {
    const { manager } = await conversationOver(new FakeTaskService(taskRecord({ purpose: 'ask' })));
    expect(await manager.answer(TASK_ID, { timeoutMs: 1, signal })).toMatchObject({ status: 'running' });
  });
});

it('a task of start_task is no question', async () => {
  const { manager } = await conversationOver(new FakeTaskService(taskRecord()));
  await expect(manager.status(TASK_ID)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  await expect(manager.cancel(TASK_ID, 'why')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
});

describe('an answer whose session is still being left', () => {
  const leaving = (path: string) => ({ ...answered(path), status: 'running' as const, answered: true });

  it('is given at once, as completed', async () => {
    const tasks = new FakeTaskService();
    const { manager } = await conversationOver(tasks);
    const cursors: unknown[] = [];
    tasks.wait = async ({ cursor }) => {
      cursors.push(cursor);
      return { tasks: [leaving('/p')], changed: [TASK_ID], cursor: 'next' };
    };
    const signal = new AbortController().signal;
    const record = await manager.answer(TASK_ID, { timeoutMs: 60_000, signal });
    // Every change wakes it, not only the end.
    expect(cursors).toEqual([`${TASK_ID}:0`]);
    expect(statusOfAsk(record)).toBe('completed');
    expect(responseOf(record)).toBe(RESPONSE_ID);
  });

  it('is continued when the session has been left: its transcript is whole then', async () => {
    const tasks = new FakeTaskService();
    const { manager, here } = await conversationOver(tasks);
    tasks.records.set(TASK_ID, leaving(here));
    const steps: string[] = [];
    tasks.wait = async () => {
      steps.push('left');
      expect(tasks.started).toEqual([]);
      return { tasks: [answered(here)], changed: [TASK_ID], cursor: '' };
    };
    await manager.ask({ prompt: 'And then?', previousResponseId: RESPONSE_ID });
    expect(steps).toEqual(['left']);
    expect(tasks.started).toMatchObject([{ resume: { sessionId: SESSION, messageId: MESSAGE } }]);
  });
});
