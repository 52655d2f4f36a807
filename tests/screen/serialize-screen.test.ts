import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { Screen } from '../../src/screen/screen.js';

const COLUMNS = 30;
const ROWS = 8;

function screenOf(columns = COLUMNS, rows = ROWS): Screen {
  const screen = new Screen({ columns, rows, scrollback: 100, clock: systemClock, reply: () => undefined });
  onTestFinished(() => screen.dispose());
  return screen;
}

async function shown(screen: Screen, text: string): Promise<Screen> {
  void screen.feed(Buffer.from(text));
  await screen.parsed();
  return screen;
}

/** All that a person sees: text, colours, cursor and whether it is shown. */
const look = (screen: Screen): string => screen.picture({ columns: COLUMNS, rows: ROWS });

it.each([
  {
    what: 'words and colours',
    text: 'plain \x1b[1;31mred\x1b[0m \x1b[48;2;1;2;3mtrue colour',
    more: ' goes on',
  },
  { what: 'lines that scrolled away', text: 'line\r\n'.repeat(30), more: 'x\r\n' },
  { what: 'the second screen', text: 'first\x1b[?1049h\x1b[2J\x1b[3;4Hsecond', more: '\x1b[?1049l!' },
  { what: 'a style set on the second screen', text: '\x1b[?1049h plain \x1b[7m', more: 'inverse' },
  { what: 'margins', text: '\x1b[2;4r\x1b[2;1Ha\r\nb\r\nc', more: '\r\nd\r\ne\x1b[r\x1b[8;1Hend' },
  {
    what: 'margins that rows are counted from',
    text: '\x1b[3;6r\x1b[?6h\x1b[2;5Ha',
    more: 'b\r\nc\x1b[1;1Htop',
  },
  { what: 'a full row that the cursor has left', text: `${'x'.repeat(COLUMNS)}\x1b[A`, more: 'y' },
  { what: 'a full row that the cursor is behind', text: 'x'.repeat(COLUMNS), more: 'y' },
  { what: 'a blank row within a wrapped line', text: `${'x'.repeat(COLUMNS + 4)}\x1b[L`, more: 'y' },
  { what: 'wide characters', text: '漢字 and 🎉 party', more: '漢' },
  { what: 'a terminal that was reset', text: '\x1b[?25l\x1b[2;3r\x1bcnew', more: '\r\nline' },
])('another terminal shows the same: $what', async ({ text, more }) => {
  const one = await shown(screenOf(), text);
  const other = await shown(screenOf(), one.state(50));
  expect(look(other)).toBe(look(one));
  await shown(one, more);
  await shown(other, more);
  expect(look(other)).toBe(look(one));
});

it('a picture fits a smaller terminal: left columns, and the rows down to the last one in use', async () => {
  const one = await shown(
    screenOf(),
    Array.from({ length: ROWS }, (_, row) => `${row} ${'x'.repeat(20)}`).join('\r\n'),
  );
  const small = await shown(screenOf(10, 3), one.picture({ columns: 10, rows: 3 }));
  expect(small.snapshot().lines).toEqual(['5 xxxxxxxx', '6 xxxxxxxx', '7 xxxxxxxx']);
});

it('the next batch continues the state that was read before it', async () => {
  const one = screenOf();
  const other = screenOf();
  void one.feed(Buffer.from('before '.repeat(5)));
  one.whenStill(() => {
    void other.feed(Buffer.from(one.state(0)));
    one.onBatch((bytes) => void other.feed(bytes));
  });
  void one.feed(Buffer.from('\x1b[35mafter'));
  await one.parsed();
  await other.parsed();
  expect(look(other)).toBe(look(one));
  expect(other.snapshot().text()).toContain('after');
});
