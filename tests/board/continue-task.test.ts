import { expect, it } from 'vitest';
import { continueTask } from '../../src/board/continue-task.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { sampleWorktree } from '../tasks/sample-task.js';

const ended = { status: 'failed', ended_at: '2026-03-01T10:30:00.000Z', session_id: 'a-session' } as const;

async function goOn(changes: Partial<TaskRecord>) {
  const tasks = new FakeTaskService(taskRecord(changes));
  const answer = await continueTask(TASK_ID, 'Try again.', tasks);
  return { answer, started: tasks.started };
}

it('a task that goes on has the session, the folder with it, the mode and the model of the one that has ended, and waits for its turn', async () => {
  const { answer, started } = await goOn({ ...ended, model: 'opus', permission_mode: 'cautious' });
  expect(answer).toBe(TASK_ID);
  expect(started).toEqual([
    {
      prompt: 'Try again.',
      permissionMode: 'cautious',
      model: 'opus',
      continueFrom: TASK_ID,
      onConflict: 'queue',
    },
  ]);
});

it('where the session is gone with its worktree, or never began, the new task begins with the text alone', async () => {
  const finished = { action: 'merge', at: ended.ended_at, result: '' } as const;
  const worktree = { ...sampleWorktree('/home/ann/app'), finished };
  const after = await goOn({ ...ended, project_path: worktree.path, worktree });
  const never = await goOn({ ...ended, session_id: null });
  for (const { started } of [after, never]) {
    expect(started).toMatchObject([{ path: '/home/ann/app' }]);
    expect(started[0]).not.toHaveProperty('continueFrom');
  }
});

it('a task that runs is not gone on with', async () => {
  await expect(goOn({ status: 'running' })).rejects.toThrow('has not ended');
});

it('a session that a person started and left is gone on with', async () => {
  const { started } = await goOn({ ...ended, driver: 'native' });
  expect(started).toMatchObject([{ continueFrom: TASK_ID }]);
});
