import { expect, it } from 'vitest';
import { inputHash } from '../../src/board/task-views.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard, TestPage } from './serve-board.js';

const decision = sampleDecision();
const answer = {
  type: 'decision.answer',
  task_id: TASK_ID,
  decision_id: 'dec_1',
  verdict: 'allow',
  answers: { command: 'npm run lint' },
};

async function answered(input_sha256: string) {
  const tasks = new FakeTaskService(taskRecord({ status: 'waiting', decisions: [decision] }));
  const page = await TestPage.open(await serveBoard(tasks));
  page.send({ type: 'dispatch', id: 1, action: { ...answer, input_sha256 } });
  return { tasks, result: await page.message('result') };
}

it('an edited input is allowed with the name of who edited it', async () => {
  const { tasks, result } = await answered(inputHash(decision));
  expect(result).toMatchObject({ ok: true });
  expect(tasks.answers).toEqual([
    { decision_id: 'dec_1', verdict: 'allow', answers: { command: 'npm run lint' }, by: 'board/test-1' },
  ]);
});

it('an edited input for a request that has changed is refused', async () => {
  const { tasks, result } = await answered('0'.repeat(64));
  expect(result).toMatchObject({ ok: false, error: { code: 'DECISION_CLOSED' } });
  expect(tasks.answers).toEqual([]);
});
