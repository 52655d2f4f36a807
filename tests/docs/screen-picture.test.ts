import headless from '@xterm/headless';
import { expect, test } from 'vitest';
import { screenPicture } from '../../scripts/docs/screen-picture.js';

test('a screen is drawn with its colours, without blank rows around it, and as text alone', async () => {
  const terminal = new headless.Terminal({ cols: 20, rows: 6, allowProposedApi: true });
  await new Promise<void>((parsed) =>
    terminal.write('\r\n\x1b[31m<b>\x1b[0m  plain\r\n\x1b[1;48;5;196mx', parsed),
  );
  const { rows, svg } = screenPicture(terminal, 'A & B');
  terminal.dispose();
  expect(rows).toBe(2);
  expect(svg).toContain('viewBox="0 0 196 64"');
  expect(svg).toContain('<title>A &amp; B</title>');
  expect(svg).toMatch(/fill="#f14c4c">&lt;b&gt;<\/text>/);
  expect(svg).toMatch(/<text x="56" [^>]*>plain<\/text>/);
  expect(svg).toMatch(/<rect [^>]*fill="#ff0000"\/><text [^>]*font-weight="bold">x<\/text>/);
});
