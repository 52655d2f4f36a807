import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { Screen, type ScreenOptions } from '../../src/screen/screen.js';

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
