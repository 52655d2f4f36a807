import { expect, test } from 'vitest';
import type { ServerMessage } from '../../src/board/protocol.js';
import { emptyBoard, type BoardState } from '../../src/board/state.js';
import { Store } from '../../web/store.js';
import type { Transport } from '../../web/transport/transport.js';

/** A board that says what the test says, and notes what is subscribed. */
function scriptedBoard(): {
  readonly transport: Transport;
  readonly asked: (readonly [string, number | undefined])[];
  say(message: ServerMessage): void;
} {
  const asked: (readonly [string, number | undefined])[] = [];
  let say: (message: ServerMessage) => void = () => undefined;
  const transport: Transport = {
    start: () => undefined,
    onMessage: (listener) => (say = listener),
    onFrame: () => undefined,
    onState: () => undefined,
    subscribe: (channel, since) => asked.push([channel, since]),
    unsubscribe: () => undefined,
    dispatch: () => undefined,
    acknowledge: () => undefined,
  };
  return { transport, asked, say: (message) => say(message) };
}

const welcome = (board_id: string): ServerMessage => ({
  type: 'welcome',
  v: 1,
  caps: { terminal: false },
  client: 'page-1',
  board_id,
  home: '/home/me',
  version: '0.1.0',
});
const overview = (seq: number, words: string): ServerMessage => ({
  type: 'snapshot',
  channel: 'board:/',
  seq,
  state: withWords(words),
});
const withWords = (words: string): BoardState => ({ ...emptyBoard, unreadable: { task: words } });

test('shows what another board has to say, though its numbers are smaller', () => {
  const board = scriptedBoard();
  const store = new Store(board.transport);
  const followed = store.follow<string, string>('replay:/one', (_, action) => action);
  board.say(welcome('first'));
  board.say(overview(500, 'of the first board'));
  board.asked.length = 0;
  board.say(welcome('second'));
  expect(board.asked).toEqual([
    ['board:/', undefined],
    ['replay:/one', undefined],
  ]);
  // What was known is shown until then.
  expect(store.board.value).toEqual(withWords('of the first board'));
  board.say(overview(3, 'of the second board'));
  expect(store.board.value).toEqual(withWords('of the second board'));
  followed.close();
});

test('asks the same board only for what it missed', () => {
  const board = scriptedBoard();
  const store = new Store(board.transport);
  board.say(welcome('first'));
  board.say(overview(500, 'of the first board'));
  board.asked.length = 0;
  board.say(welcome('first'));
  expect(board.asked).toEqual([['board:/', 500]]);
  expect(store.board.value).toEqual(withWords('of the first board'));
});
