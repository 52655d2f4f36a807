import { beforeEach, expect, test } from 'vitest';
import type { ClientAction } from '../../src/board/protocol.js';
import { emptyReplay, type ReplayEvent, type ReplayState } from '../../src/board/replay/replay-state.js';
import type { Outcome } from '../../web/store.js';
import { Player } from '../../web/replay/player.js';

const lost: Outcome = { ok: false, error: { code: 'TASK_UNREACHABLE', message: 'It is lost.', hint: '' } };
const events: readonly ReplayEvent[] = [
  [100, 'output', 'one '],
  [200, 'resize', '50x12'],
  [10_000, 'output', 'two '],
  [10_100, 'output', 'three '],
];

let state: ReplayState;
let asked: ClientAction[];
/** What the terminal was told, in order. */
let told: string[];
let isLost: boolean;
let player: Player;
let frame: ((nowMs: number) => void) | undefined;
let nowMs: number;

/** The board: a place is the number of events before it. */
async function act(action: ClientAction): Promise<Outcome> {
  asked.push(action);
  if (isLost) return lost;
  const next = (part: number, ms: number) => ({ part, offset: 0, ms });
  if (action.type === 'replay.seek') {
    const before = events.filter(([ms]) => ms <= action.ms).length;
    const screen = { at_ms: action.ms, columns: 30, rows: 6, state: `screen at ${action.ms} ` };
    return { ok: true, screen: { ...screen, next: next(before, events[before - 1]?.[0] ?? 0) } };
  }
  if (action.type !== 'replay.read') throw new Error(`not asked for here: ${action.type}`);
  const piece = events.slice(action.from.part, action.from.part + 2);
  const end = action.from.part + piece.length;
  return { ok: true, piece: { events: piece, next: next(end, events[end - 1]?.[0] ?? 0) } };
}

beforeEach(() => {
  state = {
    ...emptyReplay,
    began_ms: 0,
    ready_ms: 10_100,
    is_ready: true,
    pauses: [[200, 10_000]],
  };
  asked = [];
  told = [];
  isLost = false;
  frame = undefined;
  nowMs = 0;
  player = new Player({
    taskId: 'task_0123456789abcdef0123',
    act,
    terminal: {
      write: (text, onShown) => {
        if (text !== '') told.push(text);
        onShown?.();
      },
      resize: (columns, rows) => told.push(`${columns}x${rows}`),
      reset: () => told.push('reset'),
    },
    state: () => state,
    onFrame: (next) => {
      frame = next;
      return () => (frame = undefined);
    },
  });
});

/** The page is drawn so many times, each 100 ms after the one before, and gets what it asked for. */
async function draw(times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    frame?.((nowMs += 100));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('while a moment is on its way only the last one that is wanted is asked for', async () => {
  for (const ms of [10, 20, 30, 40]) player.seek(ms);
  await draw(1);
  expect(asked).toMatchObject([{ ms: 10 }, { ms: 40 }]);
  expect(told.slice(-3)).toEqual(['reset', '30x6', 'screen at 40 ']);
  expect(player.atMs.value).toBe(40);
});

test('a recording is played in order to its end, with its pause cut, and then from its beginning', async () => {
  player.seek(0);
  await draw(1);
  player.toggle();
  await draw(14);
  expect(told).toEqual(['reset', '30x6', 'screen at 0 ', 'one ', '50x12', 'two ', 'three ']);
  expect([player.isPlaying.value, player.atMs.value]).toEqual([false, 10_100]);
  player.toggle();
  await draw(1);
  expect(told.at(-1)).toBe('screen at 0 ');
  expect(player.isPlaying.value).toBe(true);
});

test('a pause that is not cut takes as long as it took', async () => {
  player.cutsPauses.value = false;
  player.seek(0);
  await draw(1);
  player.toggle();
  await draw(14);
  expect(told.at(-1)).toBe('50x12');
  player.speed.value = 16;
  await draw(10);
  expect(told.at(-1)).toBe('three ');
});

test('at the end of a recording that grows it waits, and goes on', async () => {
  state = { ...state, ready_ms: 200, is_live: true, pauses: [] };
  player.cutsPauses.value = false;
  player.seek(200);
  await draw(1);
  player.toggle();
  await draw(5);
  expect([player.isPlaying.value, player.atMs.value]).toEqual([true, 200]);
  state = { ...state, ready_ms: 10_100, is_live: false };
  player.speed.value = 16;
  await draw(12);
  expect(told.slice(-2)).toEqual(['two ', 'three ']);
  expect(player.isPlaying.value).toBe(false);
});

test('what cannot be read pauses it, with the reason', async () => {
  player.seek(0);
  await draw(1);
  isLost = true;
  player.toggle();
  await draw(2);
  expect(player.isPlaying.value).toBe(false);
  expect(player.error.value).toMatchObject({ message: 'It is lost.' });
});

test('a page that was not drawn for an hour goes on where it was', async () => {
  player.cutsPauses.value = false;
  player.seek(0);
  await draw(1);
  player.toggle();
  await draw(2);
  const before = player.atMs.value;
  nowMs += 3_600_000;
  await draw(1);
  expect(player.atMs.value - before).toBeLessThanOrEqual(250);
});
