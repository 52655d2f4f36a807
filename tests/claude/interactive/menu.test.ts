import { expect, it } from 'vitest';
import { readMenu } from '../../../src/claude/interactive/menu.js';
import { composerRow } from '../../../src/claude/interactive/screen-state.js';

const COLUMNS = 40;
const trust = [
  '─'.repeat(COLUMNS),
  ' Accessing workspace:',
  ' /home/anybody/proj',
  '',
  ' ❯ 1. Yes, I trust this folder',
  '   2. No, exit',
  '',
  ' Enter to confirm · Esc to cancel',
];

it('a session with a name has it below its dialogs, and on the rule of its input box', () => {
  const name = `${'─'.repeat(COLUMNS - ' task_1 Make it. ─'.length)} task_1 Make it. ─`;
  expect(readMenu([...trust, '', name], COLUMNS)).toEqual(readMenu(trust, COLUMNS));
  expect(readMenu([...trust, '', ` ${name.slice(1)}`], COLUMNS)).toBeUndefined();
  const box = [name, '❯\u00a0', '─'.repeat(COLUMNS), '  ⏸ manual mode on · ← for agents'];
  expect(composerRow({ lines: box, columns: COLUMNS, cursor: { row: 1, column: 2 } })).toBe(1);
});
