import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import type { AlwaysRules } from '../../src/board/always-rules.js';
import { inputHash } from '../../src/board/task-views.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import type { DecisionAnswer } from '../../src/tasks/task-host.js';
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

it('a new task has what the form says, and the rest as the settings say', async () => {
  const tasks = new FakeTaskService(taskRecord());
  const page = await TestPage.open(await serveBoard(tasks));
  const form = { type: 'task.start', path: '/home/ann/app', prompt: 'Fix it.', on_conflict: 'queue' };
  page.send({ type: 'dispatch', id: 1, action: { ...form, max_cost_usd: 0 } });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  page.send({ type: 'dispatch', id: 2, action: { ...form, permission_mode: 'cautious', max_cost_usd: 2 } });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({ ok: true, task_id: TASK_ID });
  expect(tasks.started).toEqual([
    {
      path: '/home/ann/app',
      prompt: 'Fix it.',
      onConflict: 'queue',
      permissionMode: 'cautious',
      maxCostUsd: 2,
    },
  ]);
});

it('a rule is written only for the request that was shown, and that request is allowed once with it', async () => {
  const written: unknown[] = [];
  const always: AlwaysRules = {
    propose: () => Promise.reject(new Error('not asked')),
    check: () => undefined,
    write: async (_decision, rules, file) => void written.push([rules, file]),
  };
  const tasks = new FakeTaskService(taskRecord({ status: 'waiting', decisions: [decision] }));
  const page = await TestPage.open(await serveBoard(tasks, { always }));
  const { type: _, verdict: __, answers: ___, ...shown } = answer;
  const action = { ...shown, type: 'rule.write', rules: ['Bash(npm test)'], file: '/home/ann/config.json' };
  page.send({ type: 'dispatch', id: 1, action: { ...action, input_sha256: '0'.repeat(64) } });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'DECISION_CLOSED' } });
  expect([written, tasks.answers]).toEqual([[], []]);
  page.send({ type: 'dispatch', id: 2, action: { ...action, input_sha256: inputHash(decision) } });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({ ok: true });
  expect(written).toEqual([[['Bash(npm test)'], '/home/ann/config.json']]);
  expect(tasks.answers).toMatchObject([{ verdict: 'allow', by: 'board/test-1' }]);
});

it('a rule is not written when another answer was first, and the request is allowed though no rule can be written', async () => {
  let isWritten = false;
  const always: AlwaysRules = {
    propose: () => Promise.reject(new Error('not asked')),
    check: () => undefined,
    write: () => {
      isWritten = true;
      return Promise.reject(new Error('the disk is full'));
    },
  };
  class AnsweredTasks extends FakeTaskService {
    isLate = true;

    override respond(taskId: string, given: DecisionAnswer): Promise<TaskRecord> {
      if (this.isLate) return Promise.reject(new BridgeError('DECISION_CLOSED', 'It was denied.', ''));
      return super.respond(taskId, given);
    }
  }
  const tasks = new AnsweredTasks(taskRecord({ status: 'waiting', decisions: [decision] }));
  const page = await TestPage.open(await serveBoard(tasks, { always }));
  const { type: _, verdict: __, answers: ___, ...shown } = answer;
  const action = {
    ...shown,
    input_sha256: inputHash(decision),
    ...{ type: 'rule.write', rules: ['Bash(npm test)'], file: '/home/ann/config.json' },
  };
  page.send({ type: 'dispatch', id: 1, action });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'DECISION_CLOSED' } });
  expect([isWritten, tasks.answers]).toEqual([false, []]);
  tasks.isLate = false;
  page.send({ type: 'dispatch', id: 2, action });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({
    ok: false,
    error: { message: 'The request was allowed once, but no rule was written: the disk is full' },
  });
  expect(tasks.answers).toMatchObject([{ verdict: 'allow' }]);
});

it('an action that is too long or wrong is answered at once, by its number', async () => {
  const page = await TestPage.open(await serveBoard(new FakeTaskService(taskRecord({}))));
  page.send({
    type: 'dispatch',
    id: 7,
    action: { type: 'task.message', task_id: TASK_ID, text: 'x'.repeat(250_000) },
  });
  const { error } = await page.message('result', ({ id }) => id === 7);
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

it('what was not shown whole is not allowed by a page, and is denied', async () => {
  const long = sampleDecision({ input: { command: 'x'.repeat(300_000) } });
  const tasks = new FakeTaskService(taskRecord({ status: 'waiting', decisions: [long] }));
  const page = await TestPage.open(await serveBoard(tasks));
  const { answers: _, ...shown } = { ...answer, input_sha256: inputHash(long) };
  page.send({ type: 'dispatch', id: 1, action: shown });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  page.send({ type: 'dispatch', id: 2, action: { ...shown, verdict: 'deny' } });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({ ok: true });
  expect(tasks.answers).toMatchObject([{ verdict: 'deny' }]);
});
