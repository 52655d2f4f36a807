import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { ChatBoard } from '../../src/board/chat-board.js';
import { inputHash } from '../../src/board/task-views.js';
import { ManualClock } from '../harness/manual-clock.js';
import { until } from '../harness/until.js';
import { createWorkplace } from '../harness/workplace.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const WAIT_MS = 20_000;
const LINGER_MS = 30_000;
/** Changes are sent no more often. */
const QUIET_MS = 80;
const asked = decision();

let tasks: FakeTaskService;
let clock: ManualClock;
let board: ChatBoard;

beforeEach(async () => {
  tasks = new FakeTaskService(taskRecord({ decisions: [asked] }), taskRecord({ task_id: OTHER_ID }));
  clock = new ManualClock();
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  board = new ChatBoard({
    tasks,
    tasksDir: workplace.projectsDir,
    version: '0.0.0',
    homeDir: workplace.homeDir,
    clock,
    logger: silentLogger,
  });
});

const read = (query: object = {}, signal = new AbortController().signal) =>
  board.read({ wait_ms: 0, ...query }, signal);

describe('a read for a page in a chat', () => {
  test('gives all values first, and again as soon as one has changed', async () => {
    const first = await read();
    expect(first).toMatchObject({ whole: true, del: [] });
    expect(first.set[`decision/${TASK_ID}/dec_1`]).toMatchObject({ input: { command: 'rm -r build' } });
    clock.advance(QUIET_MS);
    const next = read({ after: first.answer, wait_ms: WAIT_MS });
    tasks.change(TASK_ID, { activity: 'Edit(a.js)', decisions: [] });
    const { whole, set } = await next;
    expect(whole).toBe(true);
    expect(set).toMatchObject({ [`task/${TASK_ID}`]: { activity: 'Edit(a.js)' } });
    expect(set).not.toHaveProperty(`decision/${TASK_ID}/dec_1`);
  });

  test('gives nothing when nothing happened in time, and everything to a caller with an unknown answer', async () => {
    const { answer } = await read();
    expect(await read({ after: answer })).toMatchObject({ whole: false, set: {}, del: [] });
    const { whole, set } = await read({ after: 'unknown' });
    expect(whole).toBe(true);
    expect(Object.keys(set)).toContain(`task/${OTHER_ID}`);
  });

  test('ends with its reader, and soon nothing is followed any more', async () => {
    const { answer } = await read();
    const reader = new AbortController();
    const next = read({ after: answer, wait_ms: WAIT_MS }, reader.signal);
    reader.abort();
    expect(await next).toMatchObject({ set: {}, del: [] });
    expect(tasks.watched.get('active')).toBe(1);
    clock.advance(LINGER_MS);
    await until('nothing is followed', () => tasks.watched.get('active') === 0);
  });

  test('of some tasks gives no others', async () => {
    expect(Object.keys((await read({ tasks: [OTHER_ID] })).set)).toEqual([`task/${OTHER_ID}`]);
  });

  test('of many tasks gives what is asked and the newest, in one answer of a tool', async () => {
    for (let number = 10; number < 90; number++) {
      const task_id = `task_000000000000000000${number}`;
      const created_at = `2026-03-01T10:${number - 10 < 60 ? String(number - 10).padStart(2, '0') : '59'}:30.000Z`;
      const long = { status: 'completed', final_message: 'y', reason: 'x'.repeat(20_000) } as const;
      tasks.records.set(
        task_id,
        taskRecord({ ...long, task_id, created_at, prompt_summary: 'x'.repeat(20_000) }),
      );
    }
    const big = decision({ input: { command: 'x'.repeat(200_000) } });
    tasks.records.set(TASK_ID, taskRecord({ decisions: [big] }));
    const { set } = await read();
    expect(JSON.stringify(set).length).toBeLessThan(700_000);
    expect(set[`decision/${TASK_ID}/dec_1`]).toMatchObject({
      input_is_cut: true,
      input_sha256: inputHash(big),
      // What is not seen whole is not allowed.
      choices: [{ answer: 'deny' }],
    });
    expect(Object.keys(set)).toContain(`task/${TASK_ID}`);
  });
});

describe('what a person does at a chat', () => {
  const answer = {
    type: 'decision.answer',
    task_id: TASK_ID,
    decision_id: 'dec_1',
    input_sha256: inputHash(asked),
    verdict: 'allow',
  };
  const act = (action: object) => board.act({ client: 'chat-claude-ai', action });

  test('is an answer with the name of the chat', async () => {
    expect(await act(answer)).toEqual({ ok: true });
    expect(tasks.answers).toMatchObject([{ verdict: 'allow', by: 'board/chat-claude-ai' }]);
  });

  test('is no answer to what has changed, and nothing else', async () => {
    expect(await act({ ...answer, input_sha256: '0'.repeat(64) })).toMatchObject({
      ok: false,
      error: { code: 'DECISION_CLOSED' },
    });
    for (const action of [
      { type: 'term.claim', task_id: TASK_ID, columns: 80, rows: 24 },
      { type: 'file.read', task_id: TASK_ID, file: 'a.js', side: 'new' },
      { type: 'task.kill', task_id: TASK_ID, reason: '' },
      { ...answer, task_id: '../..' },
    ])
      expect(await act(action)).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
    expect(tasks.answers).toEqual([]);
  });
});
