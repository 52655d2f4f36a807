import { beforeEach, expect, test } from 'vitest';
import type { Board } from '../../src/board/board.js';
import { inputHash } from '../../src/board/task-views.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard, TestPage } from './serve-board.js';

const asked = decision();
const answer = {
  type: 'decision.answer',
  task_id: TASK_ID,
  decision_id: 'dec_1',
  input_sha256: inputHash(asked),
  verdict: 'allow',
};

let tasks: FakeTaskService;
let board: Board;

beforeEach(async () => {
  tasks = new FakeTaskService(taskRecord({ decisions: [asked] }));
  // The journal of the page of a task.
  tasks.text = '';
  board = await serveBoard(tasks);
});

test('a page gets the overview with what is asked, and then each change', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  const snapshot = await page.message('snapshot');
  expect(snapshot).toMatchObject({
    channel: 'board:/',
    state: {
      tasks: { [TASK_ID]: { status: 'running', activity: 'Bash: npm test' } },
      decisions: { [`${TASK_ID}/dec_1`]: { input: { command: 'rm -r build' } } },
    },
  });
  tasks.change(TASK_ID, { activity: 'Edit(a.js)' });
  const { action } = await page.message('action');
  expect(action).toMatchObject({ type: 'task.upserted', task: { activity: 'Edit(a.js)' } });
});

test('a page tells nothing new apart from its time', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.message('snapshot');
  tasks.change(TASK_ID, { elapsed_seconds: 50 });
  tasks.change(TASK_ID, { elapsed_seconds: 51 });
  tasks.change(TASK_ID, { reason: 'Now.' });
  await page.message('action');
  expect(page.got.filter(({ type }) => type === 'action')).toHaveLength(1);
});

test('an answer reaches the task with the name of the page', async () => {
  const page = await TestPage.open(board, 'firefox');
  page.send({ type: 'dispatch', id: 1, action: answer });
  expect(await page.message('result')).toMatchObject({ id: 1, ok: true });
  expect(tasks.answers).toMatchObject([{ decision_id: 'dec_1', verdict: 'allow' }]);
  expect(tasks.answers[0]?.by).toMatch(/^board\/firefox-\d+$/);
});

test('an answer to a request that has changed meanwhile is refused', async () => {
  const page = await TestPage.open(board);
  tasks.change(TASK_ID, { decisions: [decision({ input: { command: 'rm -r /' } })] });
  page.send({ type: 'dispatch', id: 1, action: answer });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'DECISION_CLOSED' } });
  expect(tasks.answers).toEqual([]);
});

test('a page of a task that is not there is refused, and others go on', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: `task:/${OTHER_ID}` });
  expect(await page.message('refused')).toMatchObject({
    channel: `task:/${OTHER_ID}`,
    error: { code: 'TASK_NOT_FOUND' },
  });
  page.send({ type: 'subscribe', channel: `task:/${TASK_ID}` });
  expect(await page.message('snapshot')).toMatchObject({ state: { task: { task_id: TASK_ID } } });
});

test('messages, interrupts and kills reach the task', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'dispatch', id: 1, action: { type: 'task.message', task_id: TASK_ID, text: 'Go on' } });
  page.send({ type: 'dispatch', id: 2, action: { type: 'task.interrupt', task_id: TASK_ID } });
  await page.message('result', ({ id }) => id === 2);
  expect(tasks.messages).toEqual([{ text: 'Go on' }, { interrupt: true, by: 'board/test-1' }]);
  page.send({ type: 'dispatch', id: 3, action: { type: 'task.kill', task_id: TASK_ID, reason: 'Enough.' } });
  expect(await page.message('result', ({ id }) => id === 3)).toMatchObject({ ok: true });
});

test('what is not understood is said, and the connection stays', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'file:///etc/passwd' });
  await page.message('refused');
  page.send({ type: 'dispatch', id: 1, action: { type: 'task.kill', task_id: '../..', reason: '' } });
  await page.message('refused');
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.message('snapshot');
});

test('keys of a page that has not taken the terminal are refused', async () => {
  tasks.change(TASK_ID, { keeper: null });
  const page = await TestPage.open(board);
  page.send({ type: 'dispatch', id: 1, action: { type: 'term.input', task_id: TASK_ID, keys: 'eQ==' } });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  page.send({ type: 'subscribe', channel: `term:/${TASK_ID}` });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('has not started'));
  page.send({ type: 'dispatch', id: 2, action: { type: 'term.input', task_id: TASK_ID, keys: 'eQ==' } });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({
    error: { code: 'TASK_NOT_RUNNING' },
  });
});

test('a page that does not read gets the whole state once it reads again', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: `task:/${TASK_ID}` });
  await page.message('snapshot');
  page.socket.pause();
  const words = 'x'.repeat(1_000_000);
  for (let turn = 0; turn < 40; turn++) {
    const reads = tasks.outputs.length;
    tasks.change(TASK_ID, { final_message: `${turn} ${words}` });
    await expect.poll(() => tasks.outputs.length, { interval: 5 }).toBeGreaterThan(reads);
  }
  page.socket.resume();
  await page.message('gap');
  const { state } = await page.message('snapshot', (message) => JSON.stringify(message).includes('"39 x'));
  expect(JSON.stringify(state)).toContain('39 x');
  expect(page.got.filter(({ type }) => type === 'action').length).toBeLessThan(40);
});

test('a channel that is left while it is being opened is not followed', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: `task:/${TASK_ID}` });
  page.send({ type: 'unsubscribe', channel: `task:/${TASK_ID}` });
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.message('snapshot', ({ channel }) => channel === 'board:/');
  page.got.length = 0;
  tasks.change(TASK_ID, { activity: 'Edit(a.js)' });
  await page.message('action', ({ channel }) => channel === 'board:/');
  tasks.change(TASK_ID, { activity: 'Edit(b.js)' });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('b.js'));
  expect(page.got.filter(({ channel }) => channel === `task:/${TASK_ID}`)).toEqual([]);
});

test('a page that asks for more than it reads is refused, and holds up to 32 answers', async () => {
  let asked = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  tasks.output = async () => {
    asked++;
    await released;
    return { task: taskRecord(), text: 'x', cursor: '1', more: false };
  };
  const page = await TestPage.open(board);
  for (let id = 1; id <= 100; id++)
    page.send({ type: 'dispatch', id, action: { type: 'log.read', task_id: TASK_ID } });
  const refused = await page.message('result', ({ id }) => id === 100);
  expect(refused).toMatchObject({ ok: false, error: { code: 'STATE_UNUSABLE' } });
  expect(asked).toBe(32);
  release();
  expect(await page.message('result', ({ id }) => id === 32)).toMatchObject({ ok: true });
  page.send({ type: 'dispatch', id: 101, action: { type: 'log.read', task_id: TASK_ID } });
  expect(await page.message('result', ({ id }) => id === 101)).toMatchObject({ ok: true });
});

test('a record that was read before the end, and arrives after it, does not take the end away', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.message('snapshot');
  const ended_at = '2026-03-01T10:30:00.000Z';
  tasks.change(TASK_ID, { status: 'completed', ended_at });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('"completed"'));
  tasks.change(TASK_ID, { status: 'running', ended_at: null });
  tasks.change(TASK_ID, { status: 'completed', ended_at, reason: 'All done.' });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('All done.'));
  const later = page.got.slice(page.got.findIndex((one) => JSON.stringify(one).includes('"completed"')));
  expect(later.filter((one) => JSON.stringify(one).includes('"running"'))).toEqual([]);
});
