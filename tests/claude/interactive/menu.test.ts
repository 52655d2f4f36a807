import { expect, it } from 'vitest';
import { readMenu } from '../../../src/claude/interactive/menu.js';
import { composerRow } from '../../../src/claude/interactive/screen-state.js';

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

it('a session with a name has it below its dialogs, and on the rule of its input box', () => {
  const name = `${'─'.repeat(COLUMNS - ' task_1 Make it. ─'.length)} task_1 Make it. ─`;
  expect(readMenu([...trust(''), '', name], COLUMNS)).toEqual(readMenu(trust(''), COLUMNS));
  expect(readMenu([...trust(''), '', ` ${name.slice(1)}`], COLUMNS)).toBeUndefined();
  const box = [name, '❯\u00a0', '─'.repeat(COLUMNS), '  ⏸ manual mode on · ← for agents'];
  expect(composerRow({ lines: box, columns: COLUMNS, cursor: { row: 1, column: 2 } })).toBe(1);
});
