import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { nextEvent } from '../../src/base/lifecycle.js';
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
  screen.onScrolledOff(({ lines }) => gone.push(...lines()));
  const feed = async (text: string) => {
    void screen.feed(Buffer.from(text));
    await screen.parsed();
  };
  return { screen, replies, gone, feed };
}

it.each(['I', 'Z', 'b', 'L', 'M', 'S', 'T'])(
  'a count larger than the screen is ignored: CSI %s',
  async (final) => {
    const { screen, feed } = open();
    await feed(`a\x1b[2147483647${final}b`);
    expect(screen.snapshot().text()).toBe('ab');
  },
);

it.each(['\x1b[1J', '\x1b[01J', '\x1b[1;2J', '\x1b[?1J'])(
  'erasing above the last column of the last row does not crash: %j',
  async (erase) => {
    for (const before of ['', '\x1b[?1049h', 'line\r\n'.repeat(100)]) {
      const { screen, feed } = open();
      await feed(`${before}\x1b[999;999Hx${erase}\x1b[Hon`);
      expect(screen.snapshot().text()).toMatch(/^on/);
    }
  },
);

it('nothing is said on stderr of bytes that are no sequence of a terminal', async () => {
  const error = vi.spyOn(console, 'error');
  const { screen } = open();
  void screen.feed(Uint8Array.from({ length: 60_000 }, (_, at) => (at * 7_919 + (at >> 3)) % 256));
  await screen.parsed();
  expect(error).not.toHaveBeenCalled();
  error.mockRestore();
});

it('words placed by cursor moves read as a person sees them', async () => {
  const { screen, feed } = open();
  await feed('Do\x1b[4Gyou\x1b[8Gwant\x1b[2;1H\x1b[31m> 1. Yes\x1b[0m');
  expect(screen.snapshot()).toMatchObject({
    columns: 20,
    rows: 4,
    lines: ['Do you want', '> 1. Yes', '', ''],
    cursor: { column: 8, row: 1 },
  });
  expect(screen.snapshot().text()).toBe('Do you want\n> 1. Yes');
});

it('split characters and wide characters are shown whole', async () => {
  const { screen } = open();
  for (const byte of Buffer.from('ü✻日本🙂.')) void screen.feed(Buffer.from([byte]));
  await screen.parsed();
  expect(screen.snapshot().text()).toBe('ü✻日本🙂.');
  expect(screen.snapshot().cursor.column).toBe(9);
});

it('lines that leave at the top are reported once, wrapped ones whole', async () => {
  const { gone, feed, screen } = open();
  await feed('first\r\nsecond\r\n');
  await feed(`${'w'.repeat(45)}\r\n`);
  expect(gone).toEqual(['first', 'second']);
  await feed('a\r\nb\r\nc\r\nd\r\n');
  expect(gone).toEqual(['first', 'second', 'w'.repeat(45), 'a']);
  expect(screen.snapshot().text()).toBe('b\nc\nd');
});

it('a full-screen program reports no lines, and the screen behind it comes back', async () => {
  const { screen, gone, feed } = open();
  await feed('before\r\n');
  await feed('\x1b[?1049h\x1b[H' + 'x\r\n'.repeat(50));
  await feed('\x1b[?1049l');
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
  void screen.feed(Buffer.from('a'));
  void screen.feed(Buffer.from('b'));
  clock.advance(0);
  await frame;
  void screen.feed(Buffer.from('c'));
  clock.advance(15);
  expect(frames).toBe(1);
  expect(screen.snapshot().text()).toBe('ab');
  const second = nextEvent(screen.onFrame);
  clock.advance(1);
  await second;
  expect(screen.snapshot().text()).toBe('abc');
});

it('a burst of output is shown completely, with the right modes', async () => {
  const { screen, feed } = open({ columns: 40 });
  const batches: Buffer[] = [];
  screen.onBatch((batch) => batches.push(Buffer.from(batch)));
  const much = Buffer.from(
    `\x1b[?1049h\x1b[?25l${'a line of text\r\n'.repeat(60_000)}\x1b[2;3r${'more of it\r\n'.repeat(60_000)}the end`,
  );
  for (let at = 0; at < much.length; at += 4095) void screen.feed(much.subarray(at, at + 4095));
  await screen.parsed();
  expect(screen.snapshot().lines[1]).toBe('more of it');
  expect(screen.snapshot().lines[2]).toBe('the end');
  expect(Buffer.concat(batches).equals(much)).toBe(true);
  await feed('\x1b[?1049l');
});

it('a source that is too fast is asked to wait until most is parsed', async () => {
  const { screen, gone } = open();
  const lines = Array.from({ length: 200_000 }, (_, number) => `line ${number}`);
  const bytes = Buffer.from(lines.join('\r\n'));
  let waits = 0;
  let heldBytes = 0;
  let mostHeldBytes = 0;
  screen.onBatch((batch) => (heldBytes -= batch.length));
  for (let at = 0; at < bytes.length; at += 4_096) {
    const piece = bytes.subarray(at, at + 4_096);
    const wait = screen.feed(piece);
    heldBytes += piece.length;
    mostHeldBytes = Math.max(mostHeldBytes, heldBytes);
    if (wait === undefined) continue;
    waits++;
    await wait;
  }
  await screen.parsed();
  expect(waits).toBeGreaterThan(1);
  expect(mostHeldBytes).toBeLessThan(600_000);
  expect(gone).toEqual(lines.slice(0, -4));
  expect(screen.feed(Buffer.from('more'))).toBeUndefined();
});

it('a batch ends before an incomplete escape sequence', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  const batches: string[] = [];
  screen.onBatch((batch) => batches.push(batch.toString()));
  const next = async (text: string): Promise<void> => {
    const frame = nextEvent(screen.onFrame);
    void screen.feed(Buffer.from(text));
    clock.advance(16);
    await frame;
  };
  await next('red: \x1b[3');
  await next('1mred');
  expect(batches).toEqual(['red: ', '\x1b[31mred']);
  expect(screen.snapshot().text()).toBe('red: red');
  await next('\x1b[');
  expect(clock.timerCount).toBeLessThanOrEqual(1);
  await screen.parsed();
});

it('a disposed screen leaves no timer, and releases all that wait for it', async () => {
  const clock = new ManualClock();
  const { screen } = open({ clock });
  void screen.feed(Buffer.from('a'));
  void screen.feed(Buffer.from('b'));
  const settled = screen.parsed();
  screen.dispose();
  await settled;
  void screen.feed(Buffer.from('c'));
  expect(clock.timerCount).toBe(0);
});
