import { expect, it } from 'vitest';
import { findTask } from '../../src/cli/find-task.js';
import { OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const words = { one: 'task', list: 'bridge tasks list' } as const;
const onlyOne = { ids: async () => [TASK_ID], read: async () => taskRecord(), active: async () => [] };

it.each([TASK_ID, 'task_0', '0', 'f0123', 'ef0123', 'cdef0123'])('finds the task of %j', async (given) => {
  expect(await findTask(onlyOne, given, words)).toMatchObject({ task_id: TASK_ID });
});

it.each(['ffffff', 'task_ef0123', '', 'task_'])('finds none for %j', async (given) => {
  await expect(findTask(onlyOne, given, words)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
});

it('names the candidates of six digits with which one id begins and another one ends', async () => {
  const other = `task_ef0123${'0'.repeat(14)}`;
  const two = { ...onlyOne, ids: async () => [TASK_ID, other] };
  await expect(findTask(two, 'ef0123', words)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: `'ef0123' may be 2 tasks: ${TASK_ID}, ${other}.`,
  });
});

it('asks for the machine where two have the same id', async () => {
  const twins = { ...onlyOne, ids: async () => [`gpu/${TASK_ID}`, `pod/${TASK_ID}`] };
  await expect(findTask(twins, TASK_ID, words)).rejects.toMatchObject({
    message: `'${TASK_ID}' may be 2 tasks: gpu/${TASK_ID}, pod/${TASK_ID}.`,
    hint: 'Use one of these: they differ in the machine alone.',
  });
});

it.each(['gpu/ef0123', 'ef0123', 'gpu/task_0', TASK_ID])(
  'finds the task of another machine for %j',
  async (given) => {
    const read = async (id: string) => taskRecord({ task_id: id });
    const far = { ...onlyOne, ids: async () => [`gpu/${TASK_ID}`], read };
    expect(await findTask(far, given, words)).toMatchObject({ task_id: `gpu/${TASK_ID}` });
  },
);

it('shows the folders of several running tasks on one line, with the short id of each', async () => {
  const one = taskRecord({ project_path: '/we\x1b[31mird\nname' });
  const shelf = { ...onlyOne, active: async () => [one, { ...one, task_id: OTHER_ID }] };
  await expect(findTask(shelf, undefined, words)).rejects.toThrow(
    `2 tasks are running: ${TASK_ID.slice(-6)} (/we\\u001b[31mird ⏎ name), `,
  );
});

it('says in the words of its command that none runs', async () => {
  const sessions = { one: 'session', list: 'bridge native list' } as const;
  await expect(findTask(onlyOne, undefined, sessions)).rejects.toMatchObject({
    message: 'No session is running.',
    hint: 'bridge native list lists the finished ones.',
  });
  await expect(findTask(onlyOne, 'f', sessions)).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
    hint: expect.stringContaining('bridge native list') as string,
  });
});
