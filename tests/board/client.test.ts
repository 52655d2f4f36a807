import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  BoardClient,
  LinkRefused,
  type Follower,
  type Link,
  type LinkEvents,
} from '../../src/board/client.js';
import type { ClientAction, ClientMessage, ServerMessage } from '../../src/board/protocol.js';
import { ManualClock } from '../harness/manual-clock.js';
import { TASK_ID } from '../tools/fake-task-service.js';

const WELCOME: ServerMessage = { type: 'welcome', v: 1, client: 'test-1', version: '1', home: '/home/ann' };
const KILL: ClientAction = { type: 'task.kill', task_id: TASK_ID, reason: '' };
const CHANNEL = 'board:/';

/** What a try to connect comes to. */
type Try = 'open' | 'off' | 'fail' | 'refuse';

let clock: ManualClock;
let tries: Try[];
let sent: ClientMessage[];
let links: LinkEvents[];
let client: BoardClient;

/** Runs what the client does after a promise. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function open(events: LinkEvents): Promise<Link | undefined> {
  links.push(events);
  const next = tries.shift() ?? 'open';
  if (next === 'off') return undefined;
  if (next === 'fail') throw new Error('It does not answer.');
  if (next === 'refuse') throw new LinkRefused('You are not let in.');
  return { send: (message) => void sent.push(message), close: () => undefined };
}

beforeEach(() => {
  clock = new ManualClock();
  [tries, sent, links] = [[], [], []];
  client = new BoardClient(open, clock);
  onTestFinished(() => client.dispose());
});

async function connected(): Promise<LinkEvents> {
  client.connect();
  await settle();
  const link = links.at(-1);
  if (link === undefined) throw new Error('no link was opened');
  link.message(WELCOME);
  return link;
}

/** Follows, and keeps what comes. */
function following(channel = CHANNEL) {
  const got: Record<string, unknown>[] = [];
  const errors: string[] = [];
  const follower: Follower = {
    changed: (values) => void got.push(Object.fromEntries(values)),
    refused: ({ message }) => void errors.push(message),
  };
  return { got, errors, follow: client.follow(channel, follower) };
}

const values = (set: Record<string, unknown>, del: string[] = [], whole = false): ServerMessage => ({
  type: 'values',
  channel: CHANNEL,
  whole,
  set,
  del,
});

test('a follower gets all values, then each change, and a second one what is known', async () => {
  const link = await connected();
  const { got } = following();
  expect(sent).toEqual([{ type: 'subscribe', channel: CHANNEL }]);
  link.message(values({ a: 1, b: 2 }, [], true));
  link.message(values({ c: 3 }, ['a']));
  expect(got).toEqual([
    { a: 1, b: 2 },
    { b: 2, c: 3 },
  ]);
  const second = following();
  expect(second.got).toEqual([{ b: 2, c: 3 }]);
  expect(sent).toHaveLength(1);
  second.follow.dispose();
  expect(sent).toHaveLength(1);
});

test('after a lost connection all is followed again; what was known stays until all of it comes', async () => {
  const link = await connected();
  const { got } = following();
  link.message(values({ a: 1, b: 2 }, [], true));
  link.closed('The board has ended.');
  expect(client.state).toEqual({ how: 'lost', retryAtMs: 500, why: 'The board has ended.' });
  link.message(values({ a: 9 }));
  expect(got).toHaveLength(1);
  clock.advance(500);
  await settle();
  links[1]?.message(WELCOME);
  expect(sent.filter(({ type }) => type === 'subscribe')).toHaveLength(2);
  expect(got).toHaveLength(1);
  links[1]?.message(values({ b: 2 }, [], true));
  expect(got.at(-1)).toEqual({ b: 2 });
});

test('what waits for an answer fails with the connection, and without one, or in time, nothing is sent', async () => {
  const link = await connected();
  const waiting = client.act(KILL);
  const tooLong = client.act({ type: 'task.message', task_id: TASK_ID, text: 'x'.repeat(300_001) });
  expect(await tooLong).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  const silent = client.act(KILL);
  clock.advance(40_000);
  expect(await silent).toMatchObject({ error: { message: 'The board did not answer.' } });
  link.closed('');
  expect(await waiting).toMatchObject({ ok: false });
  expect(await client.act(KILL)).toMatchObject({ error: { message: 'The board is not connected.' } });
});

test('where none runs it is looked for every five seconds; one that refuses is not asked again', async () => {
  tries = ['off', 'off', 'refuse'];
  client.connect();
  for (let look = 1; look <= 3; look++) {
    await settle();
    expect(links).toHaveLength(look);
    clock.advance(5_000);
  }
  await settle();
  expect(client.state).toEqual({ how: 'refused', why: 'You are not let in.' });
  expect(clock.timerCount).toBe(0);
});
