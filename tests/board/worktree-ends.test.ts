import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import type { Worktree } from '../../src/tasks/worktree-maker.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard, TestPage } from './serve-board.js';

const worktree: Worktree = {
  project_path: '/home/ann/app',
  repository: '/home/ann/app',
  path: `/home/ann/app/.claude/worktrees/${TASK_ID}`,
  branch: `claude/${TASK_ID}`,
  base_commit: 'a'.repeat(40),
  notes: [],
};

it.each(['board:/', `task:/${TASK_ID}`])(
  'what becomes of a worktree after its task has ended is reported at once: %s',
  async (channel) => {
    const ended = { status: 'completed', ended_at: '2026-03-01T10:30:00.000Z', worktree } as const;
    const tasks = new FakeTaskService(taskRecord(ended));
    tasks.text = '';
    const page = await TestPage.open(await serveBoard(tasks));
    page.send({ type: 'subscribe', channel });
    await page.values(channel);
    const finished = { action: 'merge', at: '2026-03-01T11:00:00.000Z', result: 'b'.repeat(40) } as const;
    tasks.change(TASK_ID, { worktree: { ...worktree, finished } });
    const end = JSON.stringify(finished);
    await page.values(channel, (values) => JSON.stringify(values).includes(`"worktree_end":${end}`));
  },
);

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
