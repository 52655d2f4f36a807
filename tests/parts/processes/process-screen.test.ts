import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { ProcessScreen } from '../../../src/processes/process-screen.js';

const size = { columns: 40, rows: 5 };

/** The screen after each of the pieces was fed from memory that is used again. */
async function shownAfter(pieces: Iterable<string>): Promise<string> {
  const replies: Uint8Array[] = [];
  const screen = new ProcessScreen({ size, clock: systemClock, reply: (bytes) => replies.push(bytes) });
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    void screen.feed(bytes);
    bytes.fill(0x78);
  }
  const { text } = await screen.show();
  screen.dispose();
  return text;
}

function* lines(count: number, perPiece: number): Iterable<string> {
  for (let at = 0; at < count; at += perPiece)
    yield Array.from({ length: perPiece }, (_, index) => `line ${at + index}\r\n`).join('');
}

describe('the screen of a process', () => {
  test('shows what was printed before anybody looked', async () => {
    expect(await shownAfter(['one\r\n', 'two\r\n', '$ '])).toBe('one\ntwo\n$');
  });

  test('keeps an empty first line', async () => {
    expect(await shownAfter(['\r\n', 'two'])).toBe('\ntwo');
    expect(await shownAfter(['\n', '\u001b[1mtwo'])).toBe('\ntwo');
  });

  test.each([1, 37, 2_000, 20_000])(
    'shows the end of a flood that came in pieces of %i lines',
    async (many) => {
      const last = Math.ceil(60_000 / many) * many - 1;
      const shown = (await shownAfter(lines(60_000, many))).split('\n');
      expect(shown).toEqual([3, 2, 1, 0].map((before) => `line ${last - before}`));
    },
  );

  test('shows escape sequences that come behind a flood', async () => {
    expect(await shownAfter([...lines(30_000, 1_000), '\u001b[2J\u001b[Hclean'])).toBe('clean');
  });

  test('shows a piece that is larger than all it keeps', async () => {
    const shown = await shownAfter(['before\r\n', `${'x'.repeat(200_000)}\r\nthe end`]);
    expect(shown.split('\n').at(-1)).toBe('the end');
  });
});
