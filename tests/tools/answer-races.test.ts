import { setImmediate as moment } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { inputHash } from '../../src/board/task-views.js';
import type { DecisionAnswer } from '../../src/tasks/task-host.js';
import { isFinal, openDecisions, type Decision, type TaskRecord } from '../../src/tasks/task.js';
import { serveBoard, TestPage } from '../board/serve-board.js';
import { seededRandom, soakSeed } from '../harness/seeded-random.js';
import { until } from '../harness/until.js';
import { rounds } from '../harness/rounds.js';
import { tasksClient } from '../mcp/tasks-client.js';
import { createRun, type RunHarness } from '../tasks/run-harness.js';
import { FakeTaskService, TASK_ID } from './fake-task-service.js';

const RACES = 200;
const MAX_MOMENTS = 12;

/** One task that runs, over a session that a test scripts. */
class RunTasks extends FakeTaskService {
  readonly #run: RunHarness['run'];

  constructor({ run }: RunHarness) {
    super(run.record);
    this.#run = run;
    run.onDidChange((record) => this.change(TASK_ID, record));
  }

  override async get(): Promise<TaskRecord> {
    return this.#run.record;
  }

  override async respond(_id: string, answer: DecisionAnswer): Promise<TaskRecord> {
    if (isFinal(this.#run.record.status)) throw new BridgeError('TASK_NOT_RUNNING', 'It has ended.', '');
    await this.#run.respond(answer);
    return this.#run.record;
  }
}

async function running() {
  const harness = await createRun();
  await harness.run.start();
  const tasks = new RunTasks(harness);
  const next = async (requestId: string): Promise<Decision> => {
    harness.driver.ask({ requestId, input: { command: `make ${requestId}` } });
    return until('it is asked', () => openDecisions(harness.run.record)[0] ?? false);
  };
  const end = async (): Promise<void> => {
    harness.driver.exit();
    await harness.run.ended;
  };
  return { ...harness, tasks, next, end };
}

function update(decision_id: string, verdict: string) {
  return {
    taskId: TASK_ID,
    inputResponses: { [decision_id]: { action: 'accept', content: { verdict } } },
  };
}

it('of form, tool, page and terminal one decides each request, and each of the others hears that it did not', async () => {
  const { tasks, driver, run, next, end } = await running();
  const client = await tasksClient(tasks);
  const page = await TestPage.open(await serveBoard(tasks));
  const random = seededRandom(soakSeed());
  const winners = new Set<string>();
  const losers: string[] = [];
  let sent = 0;
  /** Why an answer was refused; undefined for one that was taken. The form hears nothing at once. */
  const roads = {
    elicitation: async ({ decision_id }: Decision) => {
      const { error } = await client.ask('tasks/update', update(decision_id, 'allow_session'));
      expect(error).toBeUndefined();
      return undefined;
    },
    caller: async ({ decision_id }: Decision) => {
      const args = { task_id: TASK_ID, decision_id, verdict: 'allow' };
      const { result = {} } = await client.call('respond_to_task', args, false);
      return result['isError'] === true ? JSON.stringify(result) : undefined;
    },
    'board/test-1': async (decision: Decision) => {
      const { decision_id } = decision;
      const id = ++sent;
      const action = { type: 'decision.answer', task_id: TASK_ID, decision_id, verdict: 'deny' };
      page.send({ type: 'dispatch', id, action: { ...action, input_sha256: inputHash(decision) } });
      const result = await page.message('result', (one) => one['id'] === id);
      return result['ok'] === true ? undefined : JSON.stringify(result);
    },
    terminal: async ({ decision_id }: Decision) =>
      tasks.respond(TASK_ID, { decision_id, verdict: 'allow', by: 'terminal' }).then(
        () => undefined,
        (error: unknown) => String(error),
      ),
  };
  for (let race = 1; race <= rounds(RACES); race++) {
    const decision = await next(`r${race}`);
    const outcomes = await Promise.all(
      Object.entries(roads).map(async ([by, answer]) => {
        for (let left = Math.floor(random() * MAX_MOMENTS); left > 0; left--) await moment();
        return { by, refusal: await answer(decision) };
      }),
    );
    const closed = run.record.decisions.find(({ decision_id }) => decision_id === decision.decision_id);
    const winner = closed?.answered_by ?? 'none';
    winners.add(winner);
    expect(driver.answers).toHaveLength(race);
    for (const { by, refusal } of outcomes) {
      if (by === winner) expect(refusal).toBeUndefined();
      else if (by !== 'elicitation') expect(refusal).toContain(`is closed: ${closed?.verdict} by ${winner}`);
      else {
        losers.push(decision.decision_id);
        expect(closed?.late).toEqual(['allow_session']);
      }
    }
  }
  expect(client.late).toEqual(losers);
  expect([...winners].toSorted()).toEqual(Object.keys(roads).toSorted());
  await end();
});

it('two clients that follow one task have a form and an end each; the second answer is late and changes nothing', async () => {
  const { tasks, driver, next, end } = await running();
  const clients = [await tasksClient(tasks), await tasksClient(tasks)] as const;
  const [one, other] = clients;
  for (const { call } of clients)
    expect((await call('wait_for_task', { task_ids: [TASK_ID] })).result).toMatchObject({ taskId: TASK_ID });
  const { decision_id } = await next('r1');
  const state = async ({ ask }: typeof one) => (await ask('tasks/get', { taskId: TASK_ID })).result;
  for (const client of clients)
    expect(await state(client)).toMatchObject({
      status: 'input_required',
      inputRequests: { [decision_id]: {} },
    });
  expect((await one.ask('tasks/update', update(decision_id, 'allow'))).error).toBeUndefined();
  expect(await state(other)).toMatchObject({ status: 'working' });
  expect((await other.ask('tasks/update', update(decision_id, 'deny'))).error).toBeUndefined();
  expect(driver.answers).toEqual([{ requestId: 'r1', answer: { verdict: 'allow' } }]);
  expect([one.late, other.late]).toEqual([[], [decision_id]]);
  await end();
  for (const client of clients) {
    const ended = await state(client);
    expect(ended).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(ended)).toContain(`too late and changed nothing: deny for ${decision_id}`);
  }
});
