import { expect, test } from 'vitest';
import { promptIn } from '../../src/processes/prompt-hint.js';

test.each([
  ['Python 3\n>>> ', '>>>'],
  ['> ', '>'],
  ['user@host:~$ ', 'user@host:~$'],
  ['Password: ', 'Password:'],
  ['Continue? [y/N] ', 'Continue? [y/N]'],
  ['(gdb) ', '(gdb)'],
])('%j looks like a prompt', (text, prompt) => {
  expect(promptIn(text)).toBe(prompt);
});

test.each([
  'done\n',
  '',
  'compiling 12 files',
  `${'x'.repeat(200)}:`,
  '>>> import time; time.sleep(100)',
  'ann@host:~$ echo $(date)',
])('%j does not', (text) => {
  expect(promptIn(text)).toBeUndefined();
});
