import { beforeEach, expect, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { Channel } from '../../src/board/channel.js';
import { Hub, type AnyChannelMessage } from '../../src/board/hub.js';
import { emptyBoard, reduceBoard, type BoardAction, type BoardState } from '../../src/board/state.js';
import { ManualClock } from '../harness/manual-clock.js';

const LINGER_MS = 20_000;
const removed: BoardAction = { type: 'task.removed', task_id: 'task_00000000000000000001' };
const ignored = (): void => undefined;

let clock: ManualClock;
let opened: Channel<BoardState, BoardAction>[];
let closed: number;
let hub: Hub;

beforeEach(() => {
  clock = new ManualClock();
  opened = [];
  closed = 0;
  hub = new Hub({
    clock,
    open: async (name, seq) => {
      if (name !== 'board:/')
        throw new BridgeError('TASK_NOT_FOUND', 'There is no such task.', 'Look again.');
      const channel = new Channel<BoardState, BoardAction>(name, emptyBoard, reduceBoard, seq);
      opened.push(channel);
      return { channel, dispose: () => void closed++ };
    },
  });
});

test('a channel is open once for all its pages, and closed a while after the last has left', async () => {
  const one = await hub.subscribe('board:/', ignored);
  const two = await hub.subscribe('board:/', ignored);
  expect(opened).toHaveLength(1);
  one.dispose();
  two.dispose();
  clock.advance(LINGER_MS - 1);
  await Promise.resolve();
  expect(closed).toBe(0);
  clock.advance(1);
  await expect.poll(() => closed).toBe(1);
  expect(clock.timerCount).toBe(0);
});

test('a page that comes back in time gets what it missed', async () => {
  (await hub.subscribe('board:/', ignored)).dispose();
  opened[0]?.dispatch(removed);
  const got: AnyChannelMessage[] = [];
  await hub.subscribe('board:/', (message) => got.push(message), 0);
  expect(got.map(({ type }) => type)).toEqual(['action']);
});

test('a number of a channel that was closed means nothing in the next one', async () => {
  (await hub.subscribe('board:/', ignored)).dispose();
  opened[0]?.dispatch(removed);
  clock.advance(LINGER_MS);
  await expect.poll(() => closed).toBe(1);
  const got: AnyChannelMessage[] = [];
  await hub.subscribe('board:/', (message) => got.push(message), 1);
  expect(got.map(({ type }) => type)).toEqual(['gap', 'snapshot']);
});

test('a channel that cannot be opened is tried again by the next page', async () => {
  await expect(hub.subscribe('task:/task_0', ignored)).rejects.toThrow('There is no such task.');
  await expect(hub.subscribe('task:/task_0', ignored)).rejects.toThrow('There is no such task.');
});

test('the end of the hub closes what is open', async () => {
  await hub.subscribe('board:/', ignored);
  hub.dispose();
  await expect.poll(() => closed).toBe(1);
});
