import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard, TestPage } from './serve-board.js';
import { sampleWorktree } from '../tasks/sample-task.js';

const worktree = sampleWorktree('/home/ann/app');

it('a page shows which checks are not met, and passes on that the work is brought in all the same', async () => {
  const result = { name: 'lint', command: 'lint', verdict: 'not met', why: 'exit code 1' } as const;
  const checked = { results: [result], rounds: 0 };
  const record = taskRecord({ status: 'completed', worktree, checked });
  const asked: unknown[] = [];
  const finish = async ({ anyway }: { readonly anyway?: boolean | undefined }) => {
    asked.push(anyway);
    return { record, notes: [] };
  };
  const page = await TestPage.open(await serveBoard(new FakeTaskService(record), { finisher: { finish } }));
  page.send({ type: 'subscribe', channel: 'board:/' });
  const values = JSON.stringify(await page.values('board:/'));
  expect(values).toContain('"unmet":"0 of 1 check met: lint: not met, exit code 1"');
  const action = { type: 'task.finish', task_id: TASK_ID, action: 'merge', reviewed: 'one', anyway: true };
  page.send({ type: 'dispatch', id: 1, action });
  expect(await page.message('result')).toMatchObject({ ok: true });
  expect(asked).toEqual([true]);
});

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
