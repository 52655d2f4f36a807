import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import type { Board } from '../../src/board/board.js';
import { ChatBoard } from '../../src/board/chat-board.js';
import { inputHash } from '../../src/board/task-views.js';
import { MachineTasks } from '../../src/machines/machine-tasks.js';
import { FakeMachine, limits, ListedTasks, machinesOf, type FarChannel } from '../machines/fake-machine.js';
import { until } from '../harness/until.js';
import { decision, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { pageOptions, serveBoard, TestPage } from './serve-board.js';

const FAR = `gpu/${TASK_ID}`;
const asked = decision();
const answer = {
  ...{ type: 'decision.answer', task_id: FAR, decision_id: 'dec_1', verdict: 'allow' },
  input_sha256: inputHash(asked),
};

/** Only an open decision is answered, as by a keeper. */
class StrictTasks extends ListedTasks {
  override async respond(...[taskId, given]: Parameters<ListedTasks['respond']>) {
    if ((await this.get(taskId)).decisions.length > 0) return super.respond(taskId, given);
    throw new BridgeError('DECISION_CLOSED', 'It was answered before.', 'Nothing is left to do.');
  }
}

let here: ListedTasks;
let there: StrictTasks;
let gpu: FakeMachine;

beforeEach(() => {
  here = new ListedTasks(taskRecord({ activity: 'Here' }));
  there = new StrictTasks(taskRecord({ activity: 'There', decisions: [asked] }));
  there.text = here.text = '';
  gpu = new FakeMachine('gpu', there);
});

function tasksWith(...machines: readonly FakeMachine[]): MachineTasks {
  const tasks = new MachineTasks({
    ...{ local: here, machines: machinesOf(...machines), clock: systemClock, limits },
  });
  onTestFinished(() => tasks.dispose());
  return tasks;
}

function serveAll(...others: readonly FakeMachine[]): Promise<Board> {
  const far = tasksWith(gpu, ...others);
  return serveBoard(far, { far });
}

async function openPage(board?: Board): Promise<TestPage> {
  const page = await TestPage.open(board ?? (await serveAll()));
  page.send({ type: 'subscribe', channel: 'board:/' });
  return page;
}

const isLive = (values: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify(values['machine/gpu']).includes('"live"');
const isCut = (values: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify(values['machine/gpu']).includes('"unverifiable"');

describe('the board with another machine', () => {
  test('shows tasks and questions of both, and follows the one there by its whole id', async () => {
    gpu.clockOffsetMs = 60_000;
    const page = await openPage();
    const values = await page.values('board:/', (now) => `task/${FAR}` in now);
    expect(values).toMatchObject({
      [`task/${TASK_ID}`]: { task_id: TASK_ID, activity: 'Here' },
      [`task/${FAR}`]: { task_id: FAR, activity: 'There' },
      // By the clock of this machine.
      [`decision/${FAR}/dec_1`]: { task_id: FAR, expires_at: '2026-03-01T10:11:05.000Z' },
      'machine/gpu': { state: 'live', since: null, hostname: 'gpu' },
    });
    expect(values).not.toHaveProperty(`decision/${TASK_ID}/dec_1`);
    page.send({ type: 'subscribe', channel: `task:/${FAR}` });
    await page.values(`task:/${FAR}`, (now) => JSON.stringify(now).includes('"There"'));
    there.change(TASK_ID, { activity: 'Still there' });
    await page.values(`task:/${FAR}`, (now) => JSON.stringify(now).includes('Still there'));
    page.send({ type: 'subscribe', channel: `task:/gpu/${OTHER_ID}` });
    expect(await page.message('refused')).toMatchObject({ error: { code: 'TASK_NOT_FOUND' } });
    page.send({ type: 'subscribe', channel: `diff:/${FAR}` });
    expect(await page.values(`diff:/${FAR}`)).toMatchObject({ why: 'The task changed nothing.' });
  });

  test('answers a question there once, however many pages answer it', async () => {
    const board = await serveAll();
    const pages = [await openPage(board), await openPage(board), await openPage(board)];
    for (const page of pages) await page.values('board:/', (now) => `decision/${FAR}/dec_1` in now);
    for (const page of pages) page.send({ type: 'dispatch', id: 1, action: answer });
    const atHome = there.respond(TASK_ID, { decision_id: 'dec_1', verdict: 'deny', by: 'there' });
    const results = await Promise.all(pages.map((page) => page.message('result')));
    const ends = [
      ...results.map(({ ok }) => ok === true),
      await atHome.then(
        () => true,
        () => false,
      ),
    ];
    expect(ends.filter(Boolean)).toHaveLength(1);
    const refused = results.filter(({ ok }) => ok !== true);
    for (const one of refused) expect(one).toMatchObject({ error: { code: 'DECISION_CLOSED' } });
    expect(there.answers).toHaveLength(1);
    expect(here.answers).toEqual([]);
    await pages[0]?.values('board:/', (now) => !(`decision/${FAR}/dec_1` in now));
  });

  test('starts a task there, and sends what is for a task there nowhere else', async () => {
    gpu.answer = () => ({ task_id: TASK_ID });
    const page = await openPage();
    await page.values('board:/', isLive);
    const start = {
      type: 'task.start',
      machine: 'gpu',
      path: '/srv/app',
      prompt: 'Go',
      on_conflict: 'queue',
    };
    page.send({ type: 'dispatch', id: 1, action: start });
    expect(await page.message('result')).toMatchObject({ ok: true, task_id: FAR });
    page.send({ type: 'dispatch', id: 2, action: { type: 'task.message', task_id: FAR, text: 'More' } });
    await page.message('result', ({ id }) => id === 2);
    page.send({ type: 'dispatch', id: 3, action: { ...start, machine: 'tpu' } });
    expect(await page.message('result', ({ id }) => id === 3)).toMatchObject({
      error: { code: 'MACHINE_NOT_FOUND' },
    });
    there.change(TASK_ID, { status: 'completed', ended_at: '2026-03-01T10:30:00.000Z', decisions: [] });
    page.send({ type: 'dispatch', id: 4, action: { type: 'task.continue', task_id: FAR, text: 'And now?' } });
    await page.message('result', ({ id }) => id === 4);
    expect(gpu.toolCalls).toMatchObject([
      { name: 'start_task', args: { path: '/srv/app', prompt: 'Go', on_conflict: 'queue' } },
      { args: { path: '/home/ann/app', prompt: 'And now?', on_conflict: 'queue', permission_mode: 'auto' } },
    ]);
    expect([there.messages, here.started, here.messages]).toEqual([
      [{ text: 'More', request_id: expect.any(String) as string }],
      [],
      [],
    ]);
  });

  test('has what only that machine can do done there, and takes no path from it', async () => {
    const acts: object[] = [];
    gpu.act = (action) => {
      acts.push(action);
      return { file: { text: 'old', path: '/etc/passwd', why: null } };
    };
    const page = await openPage();
    const read = { type: 'file.read', task_id: FAR, file: 'a.ts', side: 'old' };
    page.send({ type: 'dispatch', id: 1, action: read });
    const file = { text: 'old', path: null, why: null };
    expect(await page.message('result')).toMatchObject({ ok: true, file });
    gpu.act = () => ({ file: 7 });
    page.send({ type: 'dispatch', id: 2, action: read });
    expect(await page.message('result', ({ id }) => id === 2)).toMatchObject({
      error: { code: 'MACHINE_UNREACHABLE' },
    });
    expect(acts).toMatchObject([{ type: 'file.read', file: 'a.ts', side: 'old' }]);
  });

  test('keeps what it knew while the line is cut, says so, and says whether a message was sent', async () => {
    const page = await openPage();
    await page.values('board:/', (now) => `task/${FAR}` in now);
    gpu.isDeaf = true;
    page.send({ type: 'dispatch', id: 1, action: { type: 'task.message', task_id: FAR, text: 'More' } });
    page.send({ type: 'dispatch', id: 2, action: { type: 'task.kill', task_id: TASK_ID, reason: '' } });
    await page.message('result', ({ id }) => id === 2);
    // What is not answered there holds up nothing here.
    there.change(TASK_ID, { turns: 2 });
    await until('it is asked for', () => gpu.calls.at(-1)?.name === 'task.get');
    here.change(TASK_ID, { activity: 'Still here' });
    await page.values('board:/', (now) => JSON.stringify(now).includes('Still here'));
    await gpu.cut();
    expect(await page.message('result', ({ id }) => id === 1)).toMatchObject({
      error: { code: 'MACHINE_UNREACHABLE', hint: expect.stringContaining('its answer is not known') },
    });
    const values = await page.values('board:/', isCut);
    expect(values[`task/${FAR}`]).toMatchObject({ status: 'running' });
    expect(values['machine/gpu']).toMatchObject({ since: expect.any(String), as_of: expect.any(String) });
    page.send({ type: 'dispatch', id: 3, action: answer });
    expect(await page.message('result', ({ id }) => id === 3)).toMatchObject({
      error: { code: 'MACHINE_UNREACHABLE', hint: expect.stringContaining('Nothing was sent') },
    });
    gpu.isDeaf = false;
    there.change(TASK_ID, { activity: 'Went on' });
    gpu.mend();
    await page.values('board:/', (now) => isLive(now) && JSON.stringify(now).includes('Went on'));
  });

  test('tries a machine that was never reached once, and follows it when it is there', async () => {
    await gpu.cut();
    const page = await openPage();
    expect(await page.values('board:/', isCut)).toMatchObject({
      [`task/${TASK_ID}`]: { activity: 'Here' },
      'machine/gpu': { as_of: null, why: 'Connection reset' },
    });
    expect(gpu.tries).toBe(1);
    gpu.mend();
    await page.values('board:/', (now) => isLive(now) && `task/${FAR}` in now);
  });

  test('has no channel to it without a page', async () => {
    const board = await serveAll();
    const page = await openPage(board);
    await page.values('board:/', isLive);
    page.send({ type: 'unsubscribe', channel: 'board:/' });
    await until('the channel is closed', () => gpu.channels.size === 0);
    await until('nothing is followed there', () => there.watched.get('active') === 0);
    await openPage(board);
    await until('it is followed again', () => gpu.channels.size === 1);
    await board.close();
    await until('the channel is closed', () => gpu.channels.size === 0);
  });

  test('is read in a chat, which answers what is asked there', async () => {
    const far = tasksWith(gpu);
    const chat = new ChatBoard({ ...(await pageOptions(far)), far, logger: silentLogger });
    onTestFinished(() => chat.dispose());
    const signal = new AbortController().signal;
    const read = () => chat.read({ wait_ms: 0, tasks: [FAR] }, signal);
    const { set } = await until('it is read', async () => {
      const now = await read();
      return `decision/${FAR}/dec_1` in now.set && now;
    });
    expect(Object.keys(set)).toEqual(['machine/gpu', `decision/${FAR}/dec_1`, `task/${FAR}`]);
    expect(await chat.act({ client: 'chat', action: answer })).toEqual({ ok: true });
    expect(there.answers).toMatchObject([{ verdict: 'allow', by: expect.stringMatching(/^board\/from-/) }]);
    expect(here.answers).toEqual([]);
  });
});

describe('a terminal of another machine', () => {
  const CHANNEL = `term:/${FAR}`;
  let keepers: FarChannel[];
  let frames: Buffer[];
  let page: TestPage;

  beforeEach(async () => {
    [keepers, frames] = [[], []];
    // A keeper, by hand.
    gpu.keeper = (channel) => {
      keepers.push(channel);
      channel.heard = (line) => {
        const { id, method } = JSON.parse(line) as { id: number; method: string };
        const value = method === 'screen' ? { text: '', columns: 80, rows: 24 } : null;
        channel.give(`${JSON.stringify({ id, value })}\n`);
      };
    };
    page = await TestPage.open(await serveAll());
    page.socket.on('message', (data, isBinary) => {
      if (isBinary && Buffer.isBuffer(data)) frames.push(data);
    });
    page.send({ type: 'subscribe', channel: CHANNEL });
    await until('the far side has the terminal', () => keepers.length === 1);
  });

  function draw(words: string, kind = 'state'): void {
    const data = Buffer.from(words).toString('base64');
    keepers.at(-1)?.give(`${JSON.stringify({ push: 'terminal', kind, data })}\n`);
  }

  const shown = () => frames.map((frame) => [frame.readUInt32BE(1), frame.subarray(13).toString()]);

  test('is drawn again after a cut, as another stream, without what no page should obey', async () => {
    draw('one');
    await until('it is drawn', () => frames.length === 1);
    await gpu.cut();
    gpu.mend();
    await until('the far side has it again', () => keepers.length === 2);
    draw('\x1b]52;c;c3RvbGVu\x07again\x1b[c');
    draw('more', 'output');
    await until('it is drawn', () => frames.length === 3);
    expect(shown()).toEqual([
      [1, 'one'],
      [2, 'again'],
      [2, 'more'],
    ]);
    expect(frames[1]?.readBigUInt64BE(5)).toBe(0n);
    page.send({ type: 'unsubscribe', channel: CHANNEL });
    await until('it is left', () => gpu.channels.size === 0);
  });

  test('takes no keys while the line is cut, and says why', async () => {
    await gpu.cut();
    page.send({
      type: 'dispatch',
      id: 1,
      action: { type: 'term.claim', task_id: FAR, columns: 80, rows: 24 },
    });
    expect(await page.message('result')).toMatchObject({
      error: { code: 'MACHINE_UNREACHABLE', hint: expect.stringContaining('Nothing was sent') },
    });
  });
});

describe('a machine that lies', () => {
  let liar: FakeMachine;
  let page: TestPage;

  beforeEach(() => {
    liar = new FakeMachine('liar', new ListedTasks(taskRecord({ activity: 'Lies' })));
  });

  test('touches nothing of this machine or of another, and only what it tells of itself is refused', async () => {
    page = await openPage(await serveAll(liar));
    await page.values('board:/', (now) => `task/liar/${TASK_ID}` in now && `task/${FAR}` in now);
    for (const channel of liar.channels) channel.give(FAR);
    await until('the channel is closed', () => liar.channels.size === 0);
    there.change(TASK_ID, { activity: 'Goes on' });
    const board = await page.values('board:/', (now) => JSON.stringify(now).includes('Goes on'));
    expect(board).toMatchObject({
      [`task/${TASK_ID}`]: { activity: 'Here' },
      [`task/liar/${TASK_ID}`]: { activity: 'Lies', task_id: `liar/${TASK_ID}` },
    });
  });

  test('fills no memory with many tasks', async () => {
    page = await openPage(await serveAll(liar));
    await page.values('board:/', (now) => `task/liar/${TASK_ID}` in now);
    const input = { command: 'x'.repeat(200_000) };
    for (let number = 0; number < 130; number++) {
      const task_id = `task_${String(number).padStart(20, '0')}`;
      liar.tasks.records.set(task_id, taskRecord({ task_id, decisions: [decision({ input })] }));
      liar.tasks.change(task_id);
    }
    const board = await page.values('board:/', (now) =>
      Object.keys(now).some((key) => key.startsWith('unreadable/liar/')),
    );
    expect(JSON.stringify(board)).toContain('has sent more than this board holds of others');
  });
});
