import { expect, it } from 'vitest';
import { findTask } from '../../src/cli/find-task.js';
import { OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const onlyOne = { ids: async () => [TASK_ID], read: async () => taskRecord() };

it.each([TASK_ID, 'task_0', '0'])('finds the task of %j', async (given) => {
  expect(await findTask(onlyOne, given, 'bridge')).toMatchObject({ task_id: TASK_ID });
});

it.each(['', 'task_'])('takes %j for no task, also where there is only one', async (given) => {
  await expect(findTask(onlyOne, given, 'bridge')).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

it('shows the folders of several running tasks on one line', async () => {
  const one = taskRecord({ project_path: '/we\x1b[31mird\nname' });
  const shelf = { ids: async () => [TASK_ID, OTHER_ID], read: async () => one };
  await expect(findTask(shelf, undefined, 'bridge')).rejects.toThrow('/we\\u001b[31mird ⏎ name');
});
