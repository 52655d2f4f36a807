import { once } from 'node:events';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import type { Board } from '../../src/board/board.js';
import { ChatBoard } from '../../src/board/chat-board.js';
import { FarBoards } from '../../src/board/far/far-boards.js';
import { frameOf } from '../../src/board/frame.js';
import type { PagePort } from '../../src/board/page-port.js';
import { BoardPages } from '../../src/board/pages.js';
import { inputHash } from '../../src/board/task-views.js';
import { until } from '../harness/until.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { FakeMachine, machinesOf } from './fake-machine.js';
import { pageOptions, serveBoard, TestPage } from './serve-board.js';

const FAR = `gpu/${TASK_ID}`;
const asked = decision();
const answer = {
  ...{ type: 'decision.answer', task_id: FAR, decision_id: 'dec_1', verdict: 'allow' },
  input_sha256: inputHash(asked),
};

/** Only an open decision is answered, as by a keeper. */
class StrictTasks extends FakeTaskService {
  override async respond(...[taskId, given]: Parameters<FakeTaskService['respond']>) {
    if ((await this.get(taskId)).decisions.length > 0) return super.respond(taskId, given);
    throw new BridgeError('DECISION_CLOSED', 'It was answered before.', 'Nothing is left to do.');
  }
}

let here: FakeTaskService;
let there: FakeTaskService;
let gpu: FakeMachine;
let started: unknown[];

beforeEach(async () => {
  started = [];
  here = new FakeTaskService(taskRecord({ activity: 'Here' }));
  there = new StrictTasks(taskRecord({ activity: 'There', decisions: [asked] }));
  there.text = here.text = '';
  const pages = new BoardPages(await pageOptions(there), () => true);
  onTestFinished(() => pages.dispose());
  gpu = new FakeMachine('gpu', (port) => void pages.open(port));
});

const far = (...machines: readonly FakeMachine[]) =>
  new FarBoards(
    machinesOf(...machines),
    async ({ name }, args) => {
      started.push([name, args]);
      return FAR;
    },
    systemClock,
  );

async function openPage(board?: Board): Promise<TestPage> {
  const page = await TestPage.open(board ?? (await serveBoard(here, { far: far(gpu) })));
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
      'machine/gpu': { state: 'live', since: null, hostname: 'gpu-1' },
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
    const board = await serveBoard(here, { far: far(gpu) });
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
    await page.values('board:/', (now) => JSON.stringify(now[`task/${FAR}`]).includes('completed'));
    page.send({ type: 'dispatch', id: 4, action: { type: 'task.continue', task_id: FAR, text: 'And now?' } });
    await page.message('result', ({ id }) => id === 4);
    expect(started).toEqual([
      ['gpu', { path: '/srv/app', prompt: 'Go', on_conflict: 'queue' }],
      ['gpu', { path: '/home/ann/app', prompt: 'And now?', on_conflict: 'queue', permission_mode: 'auto' }],
    ]);
    expect([there.messages, here.started, here.messages]).toEqual([[{ text: 'More' }], [], []]);
  });

  test('keeps what it knew while the line is cut, says so, and says whether a message was sent', async () => {
    const page = await openPage();
    await page.values('board:/', (now) => `task/${FAR}` in now);
    gpu.isDeaf = true;
    page.send({ type: 'dispatch', id: 1, action: { type: 'task.message', task_id: FAR, text: 'More' } });
    page.send({ type: 'dispatch', id: 2, action: { type: 'task.kill', task_id: OTHER_ID, reason: '' } });
    await page.message('result', ({ id }) => id === 2);
    gpu.cut();
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

  test('tries a machine that was never reached once for each page, and follows it when it is there', async () => {
    gpu.cut();
    const page = await openPage();
    expect(await page.values('board:/', isCut)).toMatchObject({
      [`task/${TASK_ID}`]: { activity: 'Here' },
      'machine/gpu': { as_of: null, why: 'no answer to a heartbeat' },
    });
    expect(gpu.tries).toBe(1);
    gpu.mend();
    await page.values('board:/', (now) => isLive(now) && `task/${FAR}` in now);
  });

  test('has no channel to it without a page', async () => {
    const page = await openPage();
    await page.values('board:/', isLive);
    page.send({ type: 'unsubscribe', channel: 'board:/' });
    await until('the channel is closed', () => gpu.open === 0);
    await until('nothing is followed there', () => there.watched.get('active') === 0);
  });

  test('is read in a chat, which answers what is asked there', async () => {
    const chat = new ChatBoard({ ...(await pageOptions(here)), far: far(gpu), logger: silentLogger });
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
  let ports: PagePort[];
  let heard: Record<string, unknown>[];
  let frames: Buffer[];
  let page: TestPage;

  /** The far end, by hand: it draws in the stream that it says. */
  function draw(stream: number, words: string, kind = 1): void {
    const state = { stream, columns: 80, rows: 24, writer: 'from-me-7', closed: null };
    const set = { terminal: state };
    const port = ports.at(-1);
    port?.send(JSON.stringify({ type: 'values', channel: `term:/${TASK_ID}`, whole: true, set, del: [] }));
    port?.send(frameOf({ kind, stream, offset: 99, bytes: Buffer.from(words) }));
  }

  beforeEach(async () => {
    [ports, heard, frames] = [[], [], []];
    gpu = new FakeMachine('gpu', (port) =>
      port.onData((data) => {
        const message = JSON.parse(String(data)) as Record<string, unknown>;
        heard.push(message);
        const welcome = { type: 'welcome', v: 1, client: 'from-me-7', version: '1', home: '/home/bob' };
        if (message['type'] === 'hello') port.send(JSON.stringify(welcome));
        if (message['channel'] === `term:/${TASK_ID}` && message['type'] === 'subscribe') ports.push(port);
      }),
    );
    page = await TestPage.open(await serveBoard(here, { far: far(gpu) }));
    page.socket.on('message', (data, isBinary) => {
      if (isBinary && Buffer.isBuffer(data)) frames.push(data);
    });
    page.send({ type: 'subscribe', channel: CHANNEL });
    await until('the far side has the terminal', () => ports.length === 1);
  });

  const shown = () => frames.map((frame) => [frame.readUInt32BE(1), frame.subarray(13).toString()]);

  test('has a stream of this page, its acknowledgements go there, and it is left there', async () => {
    draw(41, 'one');
    await until('it is drawn', () => frames.length === 1);
    expect(shown()).toEqual([[1, 'one']]);
    const writer = { writer: 'test-1', stream: 1 };
    expect(await page.values(CHANNEL)).toMatchObject({ terminal: writer });
    page.send({ type: 'term.ack', channel: CHANNEL, bytes: 3 });
    page.send({ type: 'unsubscribe', channel: CHANNEL });
    await until('it is left', () => gpu.open === 0);
    expect(heard.map(({ type }) => type)).toEqual(['hello', 'subscribe', 'term.ack', 'unsubscribe']);
  });

  test('is drawn again after a cut, as another stream, and what the old one still says is not shown', async () => {
    draw(41, 'one');
    await until('it is drawn', () => frames.length === 1);
    gpu.cut();
    gpu.mend();
    await until('the far side has it again', () => ports.length === 2);
    draw(77, '\x1b]52;c;c3RvbGVu\x07again\x1b[c');
    ports.at(-1)?.send(frameOf({ kind: 2, stream: 41, offset: 3, bytes: Buffer.from('stale') }));
    ports.at(-1)?.send(frameOf({ kind: 9, stream: 77, offset: 3, bytes: Buffer.from('odd') }));
    draw(77, 'more', 2);
    await until('it is drawn', () => frames.length === 3);
    expect(shown()).toEqual([
      [1, 'one'],
      [2, 'again'],
      [2, 'more'],
    ]);
    expect(frames[1]?.readBigUInt64BE(5)).toBe(0n);
  });
});

describe('a board that lies', () => {
  const CARD = `task/${TASK_ID}`;
  let card: Record<string, unknown>;

  /** Says this when the overview is followed. */
  const liar = (...texts: readonly string[]): FakeMachine =>
    new FakeMachine('liar', (port) =>
      port.onData((data) => {
        const { type } = JSON.parse(String(data)) as { type: string };
        const welcome = { type: 'welcome', v: 1, client: 'x-1', version: '1', home: '/' };
        if (type === 'hello') port.send(JSON.stringify(welcome));
        if (type === 'subscribe') for (const text of texts) port.send(text);
      }),
    );
  const values = (set: object, del: string[] = []) =>
    JSON.stringify({ type: 'values', channel: 'board:/', whole: false, set, del });

  beforeEach(async () => {
    const page = await TestPage.open(await serveBoard(here));
    page.send({ type: 'subscribe', channel: 'board:/' });
    card = (await page.values('board:/'))[CARD] as Record<string, unknown>;
  });

  async function shownOf(...machines: readonly FakeMachine[]) {
    const page = await openPage(await serveBoard(here, { far: far(gpu, ...machines) }));
    return {
      page,
      board: await page.values('board:/', (now) => `task/${FAR}` in now && 'machine/liar' in now),
    };
  }

  test('touches no key of this machine or of another, and what is wrong takes nothing else with it', async () => {
    const set = {
      ...{ [`task/gpu/${TASK_ID}`]: card, [`task/../${TASK_ID}`]: card, 'machine/gpu': { state: 'live' } },
      ...{ history: 'lies', ['task/__proto__']: card, [`decision/${TASK_ID}/dec_x`]: {} },
      [`task/${OTHER_ID}`]: card,
      [CARD]: { ...card, activity: 'Lies', extra: 1 },
      'task/task_aaaaaaaaaaaaaaaaaaaa': { ...card, task_id: 'task_aaaaaaaaaaaaaaaaaaaa', turns: 'many' },
    };
    const { page } = await shownOf(liar(values(set, [CARD.replace('/', '/gpu/'), 'machine/gpu', CARD])));
    const board = await page.values('board:/', (now) => `task/liar/${TASK_ID}` in now);
    expect(board).toMatchObject({
      [CARD]: { activity: 'Here' },
      [`task/${FAR}`]: { activity: 'There' },
      [`task/liar/${TASK_ID}`]: { activity: 'Lies', task_id: `liar/${TASK_ID}` },
      'unreadable/liar/task_aaaaaaaaaaaaaaaaaaaa': expect.stringContaining('not understood'),
      [`unreadable/liar/${OTHER_ID}`]: expect.stringContaining('not understood'),
      history: null,
    });
    expect(Object.keys(board).filter((key) => key.includes('liar'))).toHaveLength(4);
    expect(JSON.stringify(board)).not.toMatch(/extra|lies/);
  });

  test.each([
    [
      'a million keys',
      () => values(Object.fromEntries(Array.from({ length: 1e6 }, (_, at) => [`k${at}`, 1]))),
    ],
    ['a huge text', () => values({ [`unreadable/${TASK_ID}`]: 'x'.repeat(17 * 1024 * 1024) })],
    ['what is no JSON', () => '{'],
    ['a deep text', () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['an unknown message', () => '{"type":"eval"}'],
  ])('is cut off for %s, and not asked again; the others go on', async (_name, text) => {
    const machine = liar(text());
    const { page } = await shownOf(machine);
    const board = await page.values('board:/', (now) =>
      JSON.stringify(now['machine/liar']).includes('Its board sent'),
    );
    expect(board['machine/liar']).toMatchObject({ state: 'unverifiable', as_of: expect.any(String) });
    there.change(TASK_ID, { activity: 'Goes on' });
    await page.values('board:/', (now) => JSON.stringify(now).includes('Goes on'));
    expect(machine.open).toBe(0);
  });

  test('fills no memory with many messages', async () => {
    const many = Array.from({ length: 16 }, (_, at) =>
      values({ [`unreadable/task_${String(at).padStart(20, '0')}`]: 'x'.repeat(2 * 1024 * 1024) }),
    );
    const { page } = await shownOf(liar(...many));
    await page.values('board:/', (now) => JSON.stringify(now['machine/liar']).includes('more than'));
  });
});

test('what is over the board is closed with it', async () => {
  const board = await serveBoard(here, { far: far(gpu) });
  const page = await openPage(board);
  await page.values('board:/', isLive);
  await board.close();
  await once(page.socket, 'close');
  await until('the channel is closed', () => gpu.open === 0);
});
