import { expect, it } from 'vitest';
import { readMenu } from '../../../src/claude/interactive/menu.js';

const COLUMNS = 40;
/** As 2.1.197 draws it for a moment between the key and the end of the dialog, seen on a busy machine. */
const trust = (tick: string) => [
  '─'.repeat(COLUMNS),
  ' Accessing workspace:',
  ' /home/anybody/proj',
  '',
  ` ❯ 1. Yes, I trust this folder${tick}`,
  '   2. No, exit',
  '',
  ' Enter to confirm · Esc to cancel',
];

it('a dialog stays the same after one of its options was chosen', () => {
  const menu = readMenu(trust(''), COLUMNS);
  expect(menu?.options.map((option) => option.label)).toEqual(['Yes, I trust this folder', 'No, exit']);
  expect(readMenu(trust(' ✔'), COLUMNS)).toEqual(menu);
});
