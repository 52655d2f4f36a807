import { describe, expect, it } from 'vitest';
import { tmpdir } from 'node:os';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { Delegation, delegatedStatus, uuidOfTask } from '../../src/tasks/delegation.js';
import { taskStatuses } from '../../src/tasks/task.js';
import { FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

async function delegationOver(tasks: FakeTaskService, maxRunning = 1) {
  const roots = new AllowedRoots([tmpdir()], '/home/ann');
  const project = { resolve: async (path?: string) => roots.resolveDirectory(path ?? tmpdir()) };
  return new Delegation({ tasks, project, maxRunning });
}

describe('delegating', () => {
  it('starts one task at a time, also of two calls at once, and names the one that runs', async () => {
    const tasks = new FakeTaskService();
    const delegation = await delegationOver(tasks);
    const both = await Promise.allSettled([delegation.delegate('one'), delegation.delegate('two')]);
    expect(tasks.started).toMatchObject([{ prompt: 'one', driver: 'print', delegated: true }]);
    expect(both).toMatchObject([
      { status: 'fulfilled' },
      {
        status: 'rejected',
        reason: { code: 'TASK_ALREADY_RUNNING', data: { taskId: uuidOfTask(TASK_ID) } },
      },
    ]);
  });

  it('counts no sessions that people started, and starts as many as the setting allows', async () => {
    for (const [other, most] of [
      [taskRecord({ task_id: OTHER_ID, driver: 'native' }), 1],
      [taskRecord({ task_id: OTHER_ID }), 2],
    ] as const) {
      const tasks = new FakeTaskService(other);
      await (await delegationOver(tasks, most)).delegate('one');
      expect(tasks.started).toHaveLength(1);
    }
  });
});

it('every status of a task is one of the five that delegation knows', () => {
  expect(taskStatuses.map((status) => `${status}: ${delegatedStatus(taskRecord({ status }))}`)).toEqual([
    'pending: queued',
    'starting: running',
    'running: running',
    'waiting: running',
    'completed: completed',
    'failed: failed',
    'timeout: failed',
    'killed: cancelled',
    'error: failed',
  ]);
});
