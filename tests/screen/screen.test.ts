import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { nextEvent } from '../../src/base/event.js';
import { PlainStream } from '../../src/screen/plain-stream.js';
import { Screen, type ScreenOptions } from '../../src/screen/screen.js';
import { ManualClock } from '../harness/manual-clock.js';

const screens: Screen[] = [];
afterEach(() => {
  for (const screen of screens.splice(0)) screen.dispose();
});

function open(options: Partial<ScreenOptions> = {}) {
  const replies: string[] = [];
  const screen = new Screen({
    columns: 20,
    rows: 4,
    scrollback: 100,
    clock: systemClock,
    reply: (data) => replies.push(data),
    ...options,
  });
  screens.push(screen);
  const gone: string[] = [];
  screen.onScrolledOff((lines) => gone.push(...lines));
  const feed = async (text: string) => {
    screen.feed(Buffer.from(text));
    await screen.settled();
  };
  return { screen, replies, gone, feed };
}

it.each(['I', 'Z', 'b', 'L', 'M', 'S', 'T'])(
  'a count that no screen has is left out: CSI %s',
  async (final) => {
    const { screen, feed } = open();
    await feed(`a\x1b[2147483647${final}b`);
    expect(screen.snapshot().text()).toBe('ab');
  },
);

it('tabs lead where they lead', async () => {
  const { screen, feed } = open();
  await feed('ab\x1b[1Ic');
  expect(screen.snapshot().text()).toBe('ab      c');
});

it('words that are placed by cursor moves read as a person sees them', async () => {
  const { screen, feed } = open();
  await feed('Do\x1b[4Gyou\x1b[8Gwant\x1b[2;1H\x1b[31m> 1. Yes\x1b[0m');
  expect(screen.snapshot()).toMatchObject({
    columns: 20,
    rows: 4,
    lines: ['Do you want', '> 1. Yes', '', ''],
    cursor: { column: 8, row: 1 },
    alternate: false,
  });
  expect(screen.snapshot().text()).toBe('Do you want\n> 1. Yes');
});

it('a snapshot never changes, and a new one is made only after a frame', async () => {
  const { screen, feed } = open();
  await feed('one');
  const before = screen.snapshot();
  expect(screen.snapshot()).toBe(before);
  await feed(' two');
  expect(before.text()).toBe('one');
  expect(screen.snapshot().text()).toBe('one two');
});

it('characters cut in halves and wide characters are whole', async () => {
  const { screen } = open();
  for (const byte of Buffer.from('ü✻日本🙂.')) screen.feed(Buffer.from([byte]));
  await screen.settled();
  expect(screen.snapshot().text()).toBe('ü✻日本🙂.');
  expect(screen.snapshot().cursor.column).toBe(9);
});

it('lines that leave at the top are told once, wrapped ones whole', async () => {
  const { gone, feed, screen } = open();
  await feed('first\r\nsecond\r\n');
  await feed(`${'w'.repeat(45)}\r\n`);
  expect(gone).toEqual(['first', 'second']);
  await feed('a\r\nb\r\nc\r\nd\r\n');
  expect(gone).toEqual(['first', 'second', 'w'.repeat(45), 'a']);
  expect(screen.snapshot().text()).toBe('b\nc\nd');
});

it('no line is missed when more lines leave than the terminal keeps', async () => {
  const { gone, feed } = open({ scrollback: 10 });
  const lines = Array.from({ length: 500 }, (_, number) => `line ${number}`);
  await feed(lines.join('\r\n'));
  expect(gone).toEqual(lines.slice(0, -4));
});

it('a full-screen program leaves no lines, and what was under it comes back', async () => {
  const { screen, gone, feed } = open();
  await feed('before\r\n');
  await feed('\x1b[?1049h\x1b[H' + 'x\r\n'.repeat(50));
  expect(screen.snapshot().alternate).toBe(true);
  await feed('\x1b[?1049l');
  expect(screen.snapshot()).toMatchObject({ alternate: false });
  expect(screen.snapshot().text()).toBe('before');
  expect(gone).toEqual([]);
  await feed('1\r\n2\r\n3\r\n4\r\n');
  expect(gone).toEqual(['before', '1']);
});

it('queries of a program are answered', async () => {
  const { replies, feed } = open();
  await feed('\x1b[c\x1b[6n\x1b[5n\x1b]10;?\x07\x1b]11;?\x1b\\');
  expect(replies).toEqual([
    '\x1b[?1;2c',
    '\x1b[1;1R',
    '\x1b[0n',
    '\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\',
    '\x1b]11;rgb:0000/0000/0000\x1b\\',
  ]);
});

it('output within a frame is parsed together', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  let frames = 0;
  screen.onFrame(() => frames++);
  const frame = nextEvent(screen.onFrame);
  screen.feed(Buffer.from('a'));
  screen.feed(Buffer.from('b'));
  clock.advance(0);
  await frame;
  screen.feed(Buffer.from('c'));
  clock.advance(15);
  expect(frames).toBe(1);
  expect(screen.snapshot().text()).toBe('ab');
  const second = nextEvent(screen.onFrame);
  clock.advance(1);
  await second;
  expect(screen.snapshot().text()).toBe('abc');
});

it('a frame drawn under a synchronized update is shown when it is complete', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  const shown: string[] = [];
  screen.onFrame(() => shown.push(screen.snapshot().text()));
  const frame = nextEvent(screen.onFrame);
  screen.feed(Buffer.from('\x1b[?2026hhalf'));
  clock.advance(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  screen.feed(Buffer.from(' whole\x1b[?2026l'));
  clock.advance(16);
  await frame;
  expect(shown).toEqual(['half whole']);
});

it('of a flood the tail is shown, what was skipped is counted, and the modes are right', async () => {
  const { screen, feed } = open({ columns: 40 });
  const skipped: number[] = [];
  screen.onSkipped((bytes) => skipped.push(bytes));
  const flood = Buffer.from(
    `\x1b[?1049h\x1b[?25l${'text of a flood\r\n'.repeat(60_000)}\x1b[2;3r${'more of it\r\n'.repeat(60_000)}the end`,
  );
  for (let at = 0; at < flood.length; at += 4095) screen.feed(flood.subarray(at, at + 4095));
  await screen.settled();
  expect(screen.snapshot().alternate).toBe(true);
  expect(screen.snapshot().lines[1]).toBe('more of it');
  expect(screen.snapshot().lines[2]).toBe('the end');
  expect(skipped.reduce((sum, bytes) => sum + bytes, 0)).toBe(screen.skippedBytes);
  expect(screen.skippedBytes).toBeGreaterThan(flood.length - 70_000);
  expect(screen.skippedBytes).toBeLessThan(flood.length);
  await feed('\x1b[?1049l');
  expect(screen.snapshot().alternate).toBe(false);
});

it('a flood that lasts is shown ten times a second, and what follows it at once', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  let frames = 0;
  screen.onFrame(() => frames++);
  const flood = Buffer.from('text of a flood\r\n'.repeat(20_000));
  const first = nextEvent(screen.onFrame);
  screen.feed(flood);
  clock.advance(0);
  await first;
  const second = nextEvent(screen.onFrame);
  screen.feed(Buffer.from('after it'));
  clock.advance(99);
  expect(frames).toBe(1);
  clock.advance(1);
  await second;
  expect(screen.snapshot().text().trimEnd().endsWith('after it')).toBe(true);
  const third = nextEvent(screen.onFrame);
  screen.feed(Buffer.from(', and more'));
  clock.advance(16);
  await third;
  expect(frames).toBe(3);
});

it('a flood of plain lines rests the longer the longer a frame of it took, and a prompt behind it is shown', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  // Another program had the machine meanwhile.
  screen.onScrolledOff(() => clock.advance(200));
  let frames = 0;
  screen.onFrame(() => frames++);
  const first = nextEvent(screen.onFrame);
  screen.feed(Buffer.from('a line of a flood\r\n'.repeat(20_000)), true);
  clock.advance(0);
  await first;
  screen.feed(Buffer.from('Proceed? [y/N]'), true);
  expect(screen.isUpToDate).toBe(false);
  const second = nextEvent(screen.onFrame);
  clock.advance(999);
  expect(frames).toBe(1);
  clock.advance(1);
  await second;
  expect(screen.isUpToDate).toBe(true);
  expect(screen.snapshot().text().trimEnd().endsWith('Proceed? [y/N]')).toBe(true);
});

it('a flood of plain lines is shown four times a second to who looks', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock, isWatched: () => true });
  const flood = Buffer.from('a line of a flood\r\n'.repeat(2_000));
  const shownAfter = async (waitMs: number): Promise<void> => {
    let frames = 0;
    const counted = screen.onFrame(() => frames++);
    const shown = nextEvent(screen.onFrame);
    screen.feed(flood, true);
    clock.advance(Math.max(0, waitMs - 1));
    expect(frames).toBe(0);
    clock.advance(1);
    await shown;
    counted.dispose();
  };
  await shownAfter(0);
  await shownAfter(250);
});

describe('a flood of plain lines at which nobody looks', () => {
  const flood = Buffer.from('a line of a flood\r\n'.repeat(2_000));
  const begin = () => {
    const clock = new ManualClock();
    const parsed: number[] = [];
    let frames = 0;
    let isWatched = false;
    const { screen } = open({ clock, isWatched: () => isWatched });
    screen.onParsed((bytes) => parsed.push(bytes.length));
    screen.onFrame(() => frames++);
    // For so long there is always something new.
    const goOn = (ms: number): void => {
      for (let passed = 0; passed < ms; passed += 50) {
        screen.feed(flood, true);
        clock.advance(50);
      }
    };
    return { clock, screen, parsed, frames: () => frames, goOn, look: () => (isWatched = true) };
  };

  it('is told twice a second and not drawn, until it pauses', async () => {
    const { clock, screen, parsed, frames, goOn } = begin();
    goOn(1_900);
    expect(frames()).toBe(4);
    expect(parsed).toEqual([]);
    expect(screen.isUpToDate).toBe(false);
    screen.feed(Buffer.from('Proceed? '), true);
    const drawn = nextEvent(screen.onParsed);
    clock.advance(600);
    await drawn;
    expect(screen.isUpToDate).toBe(true);
    expect(screen.snapshot().lines.slice(-2)).toEqual(['a line of a flood', 'Proceed? ']);
    expect(screen.skippedBytes).toBe(38 * flood.length - 4 * 'a line of a flood\r\n'.length);
  });

  it('is drawn at once for who asks, and for who begins to look', async () => {
    const { clock, screen, parsed, goOn, look } = begin();
    goOn(200);
    await screen.settled();
    expect(parsed).toHaveLength(1);
    goOn(200);
    const seen = new Promise<string>((resolve) => screen.whenStill(() => resolve(screen.state(0))));
    expect(await seen).toContain('a line of a flood');
    expect(parsed).toHaveLength(2);
    look();
    const drawn = nextEvent(screen.onParsed);
    screen.feed(flood, true);
    clock.advance(500);
    await drawn;
    expect(parsed).toHaveLength(3);
  });

  it('is part of what a recording begins with, and stays to be drawn', async () => {
    const { screen, parsed, goOn } = begin();
    screen.feed(Buffer.from('before the flood'), true);
    await screen.settled();
    goOn(200);
    screen.feed(Buffer.from('the open line'), true);
    const copy = open().screen;
    copy.feed(Buffer.from(screen.latestState()));
    await copy.settled();
    expect(parsed).toHaveLength(1);
    await screen.settled();
    expect(copy.snapshot().text()).toBe(screen.snapshot().text());
    expect(screen.snapshot().lines.slice(-2)).toEqual(['a line of a flood', 'the open line']);
    expect(screen.latestState()).toBe(screen.state(0));
  });

  it('is drawn as ever as soon as it moves the cursor', async () => {
    const { clock, screen, goOn } = begin();
    goOn(200);
    screen.feed(Buffer.from('\x1b[2J\x1b[Hdrawn'));
    const drawn = nextEvent(screen.onParsed);
    clock.advance(500);
    await drawn;
    expect(screen.snapshot().text()).toBe('drawn');
  });
});

it('a stream is plain until it moves the cursor, and never again', () => {
  const stream = new PlainStream();
  const read = (text: string) => stream.isPlainWith(Buffer.from(text));
  expect(read('lines\r\nof text, ü\r\n')).toBe(true);
  for (const moving of ['\x1b[1m', '\b', '\v', '\f'])
    expect(new PlainStream().isPlainWith(Buffer.from(`text${moving}`)), moving).toBe(false);
  expect(read('\x1b[2J')).toBe(false);
  expect(read('lines\r\n')).toBe(false);
});

it('what is fed may be overwritten as soon as it is fed', async () => {
  const { screen } = open();
  const bytes = Buffer.from('first');
  screen.feed(bytes);
  bytes.write('wrong');
  await screen.settled();
  expect(screen.snapshot().text()).toContain('first');
});

it('a query in the skipped part of a flood is answered, for the program waits', async () => {
  const { screen, replies } = open();
  screen.feed(Buffer.from(`\x1b[c${'x'.repeat(79)}\r\n`.repeat(1)));
  screen.feed(Buffer.from(`${'x'.repeat(78)}\r\n`.repeat(5000)));
  await screen.settled();
  expect(screen.skippedBytes).toBeGreaterThan(300_000);
  expect(replies).toEqual(['\x1b[?1;2c']);
});

it('a resized screen has the new size', async () => {
  const { screen, feed } = open();
  await feed('text');
  screen.resize(30, 6);
  expect(screen.snapshot()).toMatchObject({ columns: 30, rows: 6 });
  expect(screen.snapshot().lines).toHaveLength(6);
});

it('a disposed screen leaves no timer, and nobody waits for it', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  screen.feed(Buffer.from('a'));
  screen.feed(Buffer.from('b'));
  const settled = screen.settled();
  screen.dispose();
  await settled;
  screen.feed(Buffer.from('c'));
  expect(clock.timerCount).toBe(0);
});
