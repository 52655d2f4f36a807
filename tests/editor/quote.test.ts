import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLineCommand } from '../../vscode/src/terminals/quote.js';
import { rounds } from '../harness/rounds.js';

const word = fc.string({
  unit: fc.constantFrom('a', ' ', '"', '$', '`', '\\', '\n', '\t', '!', '*', ';', 'ä'),
});

test('a command of several lines, or with tabs, is typed as one line and is the same for bash', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const line = ['printf', '%s\\0', ...words].map((one) => `'${one}'`).join(' ');
      const typed = oneLineCommand(line, '/bin/bash');
      expect(typed).not.toMatch(/[\n\t]/);
      const printed = execFileSync('bash', ['-c', typed], { encoding: 'utf8' });
      expect(printed.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: rounds(40) },
  );
});

test('a command of several lines is one line for bash and zsh, and is refused for others', () => {
  const typed = oneLineCommand("if true\nthen\n\techo 'a\\nb'\nfi", '/bin/bash');
  expect(execFileSync('bash', ['-c', typed], { encoding: 'utf8' })).toBe('a\\nb\n');
  expect(oneLineCommand('ls | wc', '/usr/bin/fish')).toBe('ls | wc');
  expect(() => oneLineCommand('a\nb', '/usr/bin/fish')).toThrow('several lines');
});
