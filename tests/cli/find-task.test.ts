import { expect, it } from 'vitest';
import { findTask, wordsFor } from '../../src/cli/find-task.js';
import { OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const words = wordsFor('bridge');
const onlyOne = { ids: async () => [TASK_ID], read: async () => taskRecord() };

it.each([TASK_ID, 'task_0', '0'])('finds the task of %j', async (given) => {
  expect(await findTask(onlyOne, given, words)).toMatchObject({ task_id: TASK_ID });
});

it.each(['', 'task_'])('takes %j for no task, also where there is only one', async (given) => {
  await expect(findTask(onlyOne, given, words)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

it('shows the folders of several running tasks on one line', async () => {
  const one = taskRecord({ project_path: '/we\x1b[31mird\nname' });
  const shelf = { ids: async () => [TASK_ID, OTHER_ID], read: async () => one };
  await expect(findTask(shelf, undefined, words)).rejects.toThrow('/we\\u001b[31mird ⏎ name');
});

it.each([
  { native: false, message: 'There are no running tasks.', list: 'bridge tasks list' },
  { native: true, message: 'No session of yours runs.', list: 'bridge native list' },
])('says in its own words that none runs (native: $native)', async ({ native, message, list }) => {
  const ended = { ids: async () => [TASK_ID], read: async () => taskRecord({ status: 'completed' }) };
  await expect(findTask(ended, undefined, wordsFor('bridge', native))).rejects.toMatchObject({
    message,
    hint: `${list} lists the finished ones.`,
  });
  await expect(findTask(ended, 'f', wordsFor('bridge', native))).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
    hint: expect.stringContaining(list) as string,
  });
});
