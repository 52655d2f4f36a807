import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { createWorkplace } from '../harness/workplace.js';
import { serveBoard, TestPage } from './serve-board.js';

test('a task whose folder is there before it is listed is found, also when it has ended by then', async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  const tasks = new FakeTaskService(taskRecord());
  const tasksDir = workplace.projectsDir;
  const board = await serveBoard(tasks, { tasksDir });
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.values('board:/');
  let looks = 0;
  const listed = tasks.taskIds.bind(tasks);
  tasks.taskIds = async (prefix) => {
    if (++looks === 3) tasks.records.set(OTHER_ID, taskRecord({ task_id: OTHER_ID, status: 'failed' }));
    return listed(prefix);
  };
  await mkdir(join(tasksDir, OTHER_ID));
  await page.values('board:/', (values) => JSON.stringify(values).includes('"failed"'));
  // One that was shown is taken away as soon as its folder is gone.
  tasks.records.delete(OTHER_ID);
  await rm(join(tasksDir, OTHER_ID), { recursive: true });
  await page.values('board:/', (values) => !(`task/${OTHER_ID}` in values));
  expect(tasks.records.has(TASK_ID)).toBe(true);
});
