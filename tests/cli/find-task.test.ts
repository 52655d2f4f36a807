import { expect, it } from 'vitest';
import { findTask } from '../../src/cli/find-task.js';
import { TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const shelf = { ids: async () => [TASK_ID], read: async () => taskRecord() };

it.each([TASK_ID, 'task_0', '0'])('finds the task of %j', async (given) => {
  expect(await findTask(shelf, given, 'bridge')).toMatchObject({ task_id: TASK_ID });
});

it.each(['', 'task_'])('takes %j for no task, also where there is only one', async (given) => {
  await expect(findTask(shelf, given, 'bridge')).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});
