import { beforeEach, expect, test } from 'vitest';
import type { Board } from '../../src/board/board.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { until } from '../harness/until.js';
import { serveBoard, TestPage } from './serve-board.js';

const asked = decision();
let tasks: FakeTaskService;
let board: Board;

beforeEach(async () => {
  tasks = new FakeTaskService(taskRecord({ decisions: [asked] }));
  // The journal of the page of a task.
  tasks.text = '';
  board = await serveBoard(tasks);
});

test('a page gets the overview with what is asked, and then what has changed of it', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  expect(await page.values('board:/')).toMatchObject({
    [`task/${TASK_ID}`]: { status: 'running', activity: 'Bash: npm test' },
    [`decision/${TASK_ID}/dec_1`]: { input: { command: 'rm -r build' } },
  });
  tasks.change(TASK_ID, { activity: 'Edit(a.js)' });
  const { whole, set, del } = await page.message('values', ({ whole }) => whole === false);
  expect({ whole, set, del }).toEqual({
    whole: false,
    set: { [`task/${TASK_ID}`]: expect.objectContaining({ activity: 'Edit(a.js)' }) as unknown },
    del: [],
  });
});

test('a task that another process starts is shown, and one that was removed goes', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.values('board:/');
  tasks.records.set(OTHER_ID, taskRecord({ task_id: OTHER_ID }));
  tasks.change(OTHER_ID);
  await page.values('board:/', (now) => `task/${OTHER_ID}` in now);
  tasks.remove(OTHER_ID);
  await page.values('board:/', (now) => !(`task/${OTHER_ID}` in now));
});

test('a page of a task that is not there is refused, and others go on', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: `task:/${OTHER_ID}` });
  expect(await page.message('refused')).toMatchObject({
    channel: `task:/${OTHER_ID}`,
    error: { code: 'TASK_NOT_FOUND' },
  });
  page.send({ type: 'subscribe', channel: `task:/${TASK_ID}` });
  expect(await page.values(`task:/${TASK_ID}`)).toMatchObject({ task: { task_id: TASK_ID } });
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
  await page.values('board:/');
});

test('keys of a page that has not taken the terminal are refused', async () => {
  tasks.change(TASK_ID, { keeper: null });
  const page = await TestPage.open(board);
  page.send({ type: 'dispatch', id: 1, action: { type: 'term.input', task_id: TASK_ID, keys: 'eQ==' } });
  expect(await page.message('result')).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  page.send({ type: 'subscribe', channel: `term:/${TASK_ID}` });
  await page.values(`term:/${TASK_ID}`, (values) => JSON.stringify(values).includes('has not started'));
  page.send({ type: 'dispatch', id: 2, action: { type: 'term.input', task_id: TASK_ID, keys: 'eQ==' } });
  expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({
    error: { code: 'TASK_NOT_RUNNING' },
  });
});

test('the connection of a page that does not read ends, and the next one gets all', async () => {
  const page = await TestPage.open(board);
  const channel = `task:/${TASK_ID}`;
  page.send({ type: 'subscribe', channel });
  await page.values(channel);
  page.socket.pause();
  const words = 'x'.repeat(1_000_000);
  const isLeft = (): boolean => tasks.watched.get(TASK_ID) === 0;
  for (let turn = 0; turn < 100 && !isLeft(); turn++) {
    const reads = tasks.outputs.length;
    tasks.change(TASK_ID, { final_message: `${turn} ${words}` });
    await until('it was read, or the page is gone', () => tasks.outputs.length > reads || isLeft());
  }
  expect(isLeft()).toBe(true);
  page.socket.resume();
  await page.closed;
  tasks.change(TASK_ID, { final_message: 'The last words.' });
  const next = await TestPage.open(board);
  next.send({ type: 'subscribe', channel });
  expect(await next.values(channel)).toMatchObject({ final_message: 'The last words.' });
});

test('a record that was read before the end, and arrives after it, does not take the end away', async () => {
  const page = await TestPage.open(board);
  page.send({ type: 'subscribe', channel: 'board:/' });
  await page.values('board:/');
  const ended_at = '2026-03-01T10:30:00.000Z';
  const shows = (words: string) => page.values('board:/', (values) => JSON.stringify(values).includes(words));
  tasks.change(TASK_ID, { status: 'completed', ended_at });
  await shows('"completed"');
  tasks.change(TASK_ID, { status: 'running', ended_at: null });
  tasks.change(TASK_ID, { status: 'completed', ended_at, reason: 'All done.' });
  await shows('All done.');
  const later = page.got.slice(page.got.findIndex((one) => JSON.stringify(one).includes('"completed"')));
  expect(later.filter((one) => JSON.stringify(one).includes('"running"'))).toEqual([]);
});
