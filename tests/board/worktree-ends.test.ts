import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard, TestPage } from './serve-board.js';
import { sampleWorktree } from '../tasks/sample-task.js';

const worktree = sampleWorktree('/home/ann/app');

it('a page that may not merge what it shows gets what is there instead', async () => {
  const trees = ['one', 'two', 'three'];
  const board = await serveBoard(new FakeTaskService(taskRecord({ status: 'completed', worktree })), {
    patchOf: async () => ({ state: 'nothing', why: 'Nothing.', tree: trees.shift() }),
    finisher: { finish: () => Promise.reject(new BridgeError('WORK_DOES_NOT_FIT', 'It has changed.', '')) },
  });
  const page = await TestPage.open(board);
  const channel = `diff:/${TASK_ID}`;
  page.send({ type: 'subscribe', channel });
  expect(await page.values(channel)).toMatchObject({ tree: 'one' });
  for (const [id, tree] of ['two', 'three'].entries()) {
    const action = { type: 'task.finish', task_id: TASK_ID, action: 'merge', reviewed: 'one' };
    page.send({ type: 'dispatch', id: id + 1, action });
    await page.values(channel, (values) => values['tree'] === tree);
    const refused = await page.message('result', (result) => result.id === id + 1);
    expect(refused).toMatchObject({ ok: false, error: { code: 'WORK_DOES_NOT_FIT' } });
  }
});
