import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { appActSchema, appReadSchema } from '../../src/board/app-requests.js';
import type { Board } from '../../src/board/board.js';
import { inputHash } from '../../src/board/task-views.js';
import { ManualClock } from '../harness/manual-clock.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serveBoard } from './serve-board.js';

const WAIT_MS = 20_000;
const IDLE_MS = 15 * 60_000;
const asked = decision();
const BOARD = { channel: 'board:/' };

let tasks: FakeTaskService;
let clock: ManualClock;
let board: Board;

beforeEach(async () => {
  tasks = new FakeTaskService(taskRecord({ decisions: [asked] }), taskRecord({ task_id: OTHER_ID }));
  tasks.text = '';
  clock = new ManualClock();
  board = await serveBoard(tasks, { clock });
});

const seqSchema = z.looseObject({ seq: z.number() });

/** One read that takes what is there. */
async function read(query: object, signal = new AbortController().signal) {
  return board.read(appReadSchema.parse({ wait_ms: 0, ...query }), signal);
}

async function firstRead() {
  const { board_id, messages } = await read({ channels: [BOARD] });
  return { board_id, messages, since: seqSchema.parse(messages[0]).seq };
}

describe('a read for an app', () => {
  test('gives the whole state first, and then waits for the next change', async () => {
    const { board_id, messages, since } = await firstRead();
    expect(messages).toMatchObject([
      {
        type: 'snapshot',
        state: { decisions: { [`${TASK_ID}/dec_1`]: { input: { command: 'rm -r build' } } } },
      },
    ]);
    const next = read({ board_id, channels: [{ ...BOARD, since }], wait_ms: WAIT_MS });
    await Promise.resolve();
    tasks.change(TASK_ID, { activity: 'Edit(a.js)' });
    expect((await next).messages).toMatchObject([
      { type: 'action', seq: since + 1, action: { type: 'task.upserted', task: { activity: 'Edit(a.js)' } } },
    ]);
  });

  test('gives nothing when nothing happened in time', async () => {
    const { board_id, since } = await firstRead();
    const next = read({ board_id, channels: [{ ...BOARD, since }], wait_ms: WAIT_MS });
    await expect.poll(() => clock.timerCount).toBeGreaterThan(0);
    clock.advance(WAIT_MS);
    expect((await next).messages).toEqual([]);
  });

  test('ends with its reader, and follows nothing any more', async () => {
    const { board_id, since } = await firstRead();
    const reader = new AbortController();
    const next = read({ board_id, channels: [{ ...BOARD, since }], wait_ms: WAIT_MS }, reader.signal);
    reader.abort();
    expect((await next).messages).toEqual([]);
    // Nobody follows: after a while the feed is closed, and the tasks are no longer watched.
    expect(tasks.watched.get('active')).toBe(1);
    clock.advance(WAIT_MS);
    await expect.poll(() => tasks.watched.get('active')).toBe(0);
  });

  test('gives all of it anew to who has read another board, or has a number that is not known', async () => {
    const { board_id, since } = await firstRead();
    const types = async (query: object) => (await read(query)).messages.map(({ type }) => type);
    expect(await types({ board_id: 'another', channels: [{ ...BOARD, since }] })).toEqual([
      'gap',
      'snapshot',
    ]);
    expect(await types({ board_id, channels: [{ ...BOARD, since: since + 9 }] })).toEqual([
      'gap',
      'snapshot',
    ]);
    expect(await types({ board_id, channels: [{ ...BOARD, since }] })).toEqual([]);
  });

  test('of some tasks gives no others', async () => {
    const { messages } = await read({ channels: [BOARD], tasks: [OTHER_ID] });
    const { state } = z
      .looseObject({ state: z.object({ tasks: z.record(z.string(), z.unknown()), decisions: z.object({}) }) })
      .parse(messages[0]);
    expect(Object.keys(state.tasks)).toEqual([OTHER_ID]);
    expect(state.decisions).toEqual({});
  });

  test('says which channel there is not, and gives the others', async () => {
    const { messages } = await read({ channels: [{ channel: 'task:/task_99999999999999999999' }, BOARD] });
    expect(messages).toMatchObject([
      { type: 'refused', error: { code: 'TASK_NOT_FOUND' } },
      { type: 'snapshot' },
    ]);
  });

  test('has no channel of a terminal, and at most so many and so long', () => {
    const refused = [
      { channels: [{ channel: `term:/${TASK_ID}` }], wait_ms: 0 },
      { channels: Array.from({ length: 9 }, () => BOARD), wait_ms: 0 },
      { channels: [BOARD], wait_ms: WAIT_MS + 1 },
      { channels: [{ channel: 'task:/../etc' }], wait_ms: 0 },
    ];
    expect(refused.map((query) => appReadSchema.safeParse(query).success)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('of a large history fits into one answer, the newest events first', async () => {
    const line = (seq: number) => JSON.stringify({ seq, at: '', type: 'text', text: 'x'.repeat(2_000) });
    tasks.text = Array.from({ length: 450 }, (_, at) => line(at + 1)).join('\n');
    const answer = await read({ channels: [{ channel: `task:/${TASK_ID}` }] });
    expect(answer.messages[0]).toMatchObject({ type: 'snapshot' });
    const { state } = z
      .looseObject({
        state: z.object({ events: z.array(z.looseObject({ seq: z.number() })), earlier_events: z.number() }),
      })
      .parse(answer.messages[0]);
    expect(JSON.stringify(answer).length).toBeLessThan(700_000);
    expect(state.events.length).toBeGreaterThan(100);
    expect(state.events.at(-1)?.seq).toBe(450);
    expect(state.earlier_events + state.events.length).toBe(450);
  });

  test('is refused when too many wait already, and again possible when one has left', async () => {
    const { board_id, since } = await firstRead();
    const readers = Array.from({ length: 32 }, () => new AbortController());
    const waits = readers.map(({ signal }) =>
      read({ board_id, channels: [{ ...BOARD, since }], wait_ms: WAIT_MS }, signal),
    );
    await expect(read({ channels: [] })).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    for (const reader of readers) reader.abort();
    await Promise.all(waits);
    await read({ channels: [] });
  });
});

describe('the board of an app', () => {
  test('does not end while an app reads, and ends when none has read for a while', async () => {
    const ends: string[] = [];
    board.onOver((why) => ends.push(why));
    const { board_id, since } = await firstRead();
    const reader = new AbortController();
    const next = read({ board_id, channels: [{ ...BOARD, since }], wait_ms: WAIT_MS }, reader.signal);
    await expect.poll(() => clock.timerCount).toBeGreaterThan(0);
    clock.advance(WAIT_MS - 1);
    expect(ends).toEqual([]);
    reader.abort();
    await next;
    clock.advance(IDLE_MS - 1);
    expect(ends).toEqual([]);
    clock.advance(1);
    expect(ends).toHaveLength(1);
  });

  const answer = {
    type: 'decision.answer',
    task_id: TASK_ID,
    decision_id: 'dec_1',
    input_sha256: inputHash(asked),
    verdict: 'allow',
  };

  test('answers for a person with the name of the chat', async () => {
    const act = appActSchema.parse({ client: 'chat-claude-ai', action: answer });
    expect(await board.actFor(act)).toEqual({ ok: true });
    expect(tasks.answers).toMatchObject([{ verdict: 'allow', by: 'board/chat-claude-ai' }]);
  });

  test('refuses an answer to what has changed, keys for a terminal, and the text of a file', async () => {
    const act = (action: object) => board.actFor(appActSchema.parse({ client: 'chat', action }));
    expect(await act({ ...answer, input_sha256: '0'.repeat(64) })).toMatchObject({
      ok: false,
      error: { code: 'DECISION_CLOSED' },
    });
    expect(await act({ type: 'term.claim', task_id: TASK_ID, columns: 80, rows: 24 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_ARGUMENTS' },
    });
    expect(await act({ type: 'file.read', task_id: TASK_ID, file: 'a.js', side: 'new' })).toEqual({
      ok: false,
      error: {
        code: 'INVALID_ARGUMENTS',
        message: 'An app has no terminal and no replay, reads no files, and writes no rules.',
        hint: 'Open the board in a browser.',
      },
    });
    expect(tasks.answers).toEqual([]);
  });

  test('takes no author but a chat', () => {
    for (const client of ['caller', 'chat/../x', 'firefox-1', 'chat-', ''])
      expect(appActSchema.safeParse({ client, action: answer }).success).toBe(false);
  });
});

describe('the screen of a task', () => {
  test('is looked at once a second while somebody follows it, and soon no longer', async () => {
    tasks.text = 'first';
    const channel = `screen:/${TASK_ID}`;
    const { board_id, messages } = await read({ channels: [{ channel }] });
    expect(messages).toMatchObject([{ type: 'snapshot', state: { text: 'first', why: null } }]);
    const { seq: since } = seqSchema.parse(messages[0]);
    const reader = new AbortController();
    const next = read({ board_id, channels: [{ channel, since }], wait_ms: WAIT_MS }, reader.signal);
    await Promise.resolve();
    tasks.text = 'second';
    clock.advance(1_000);
    expect((await next).messages).toMatchObject([{ action: { type: 'screen.changed', text: 'second' } }]);
    clock.advance(2_000);
    await expect.poll(() => clock.timerCount).toBe(1);
    const looks = tasks.outputs.length;
    clock.advance(10_000);
    await Promise.resolve();
    expect(tasks.outputs.length).toBe(looks);
  });
});
