import { signal } from '@preact/signals';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ReplayEvent } from '../../web/replay/recording.js';
import { Player } from '../../web/replay/player.js';
import type { ReelFacts } from '../../web/replay/reel.js';

const events: readonly ReplayEvent[] = [
  { ms: 100, kind: 'output', text: 'one ' },
  { ms: 200, kind: 'resize', size: { columns: 50, rows: 12 } },
  { ms: 10_000, kind: 'output', text: 'two ' },
  { ms: 10_100, kind: 'output', text: 'three ' },
];

const facts = signal<ReelFacts>({
  began_ms: 0,
  first_ms: 0,
  ready_ms: 10_100,
  is_ready: true,
  is_cut: false,
  error: null,
});
let isLive: boolean;
/** What the terminal was told, in order. */
let told: string[];
/** Calls back for what the terminal has shown. */
let shown: (() => void)[];
let player: Player;
let frame: ((nowMs: number) => void) | undefined;
let nowMs: number;

beforeEach(() => {
  facts.value = { ...facts.value, first_ms: 0, ready_ms: 10_100 };
  isLive = false;
  told = [];
  shown = [];
  frame = undefined;
  nowMs = 0;
  player = new Player({
    reel: {
      facts,
      before: (ms) => ({
        size: { columns: 30, rows: 6 },
        state: `screen before ${ms} `,
        next: events.filter((event) => event.ms <= ms).length,
      }),
      event: (number) => events[number],
    },
    isLive: () => isLive,
    terminal: {
      write: (text, onShown) => {
        shown.push(() => {
          if (text !== '') told.push(text);
          onShown?.();
        });
      },
      resize: (columns, rows) => told.push(`${columns}x${rows}`),
      reset: () => told.push('reset'),
    },
  });
  vi.stubGlobal('requestAnimationFrame', (next: (nowMs: number) => void) => {
    frame = next;
    return 0;
  });
  vi.stubGlobal('cancelAnimationFrame', () => (frame = undefined));
});

/** The terminal shows what it was given. */
function show(): void {
  for (let next = shown.shift(); next !== undefined; next = shown.shift()) next();
}

/** The page is drawn so many times, each 100 ms after the one before. */
function draw(times: number): void {
  for (let time = 0; time < times; time++) {
    show();
    frame?.((nowMs += 100));
  }
  show();
}

test('while a moment is being drawn only the last one that is wanted is drawn next', () => {
  for (const ms of [10, 20, 30, 40]) player.seek(ms);
  show();
  expect(told).toEqual(['reset', '30x6', 'screen before 10 ', 'reset', '30x6', 'screen before 40 ']);
  expect(player.atMs.value).toBe(40);
});

test('a recording is played in order to its end, without its idle time, and then from its beginning', () => {
  player.seek(0);
  player.toggle();
  draw(14);
  expect(told).toEqual(['reset', '30x6', 'screen before 0 ', 'one ', '50x12', 'two ', 'three ']);
  expect([player.isPlaying.value, player.atMs.value]).toEqual([false, 10_100]);
  player.toggle();
  draw(1);
  expect(told.at(-1)).toBe('screen before 0 ');
  expect(player.isPlaying.value).toBe(true);
});

test('idle time that is not skipped takes as long as it took', () => {
  player.skipsIdle.value = false;
  player.seek(0);
  player.toggle();
  draw(14);
  expect(told.at(-1)).toBe('50x12');
  player.speed.value = 16;
  draw(10);
  expect(told.at(-1)).toBe('three ');
});

test('at the end of a recording that grows it waits, and goes on', () => {
  facts.value = { ...facts.value, ready_ms: 200 };
  isLive = true;
  player.skipsIdle.value = false;
  player.seek(200);
  player.toggle();
  draw(5);
  expect([player.isPlaying.value, player.atMs.value]).toEqual([true, 200]);
  facts.value = { ...facts.value, ready_ms: 10_100 };
  isLive = false;
  player.speed.value = 16;
  draw(12);
  expect(told.slice(-2)).toEqual(['two ', 'three ']);
  expect(player.isPlaying.value).toBe(false);
});

test('a page that was not drawn for an hour goes on where it was', () => {
  player.skipsIdle.value = false;
  player.seek(0);
  player.toggle();
  draw(2);
  const before = player.atMs.value;
  nowMs += 3_600_000;
  draw(1);
  expect(player.atMs.value - before).toBeLessThanOrEqual(250);
});
