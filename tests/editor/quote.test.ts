import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLineCommand, withArguments } from '../../vscode/src/terminals/quote.js';
import { rounds } from '../harness/rounds.js';

const word = fc.string({
  unit: fc.constantFrom('a', ' ', "'", '"', '$', '`', '\\', '\n', '\t', '!', '*', ';', 'ä'),
});

test.each(['sh', 'bash'])('arguments reach a program as they were given, in %s', (shell) => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const line = withArguments('printf', ['%s\\0', ...words], `/bin/${shell}`);
      const typed = shell === 'bash' ? oneLineCommand(line, '/bin/bash') : line;
      const printed = execFileSync(shell, ['-c', typed], { encoding: 'utf8' });
      expect(printed.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: rounds(40) },
  );
});

test('a command of several lines is one line for bash and zsh, and is refused for others', () => {
  const typed = oneLineCommand("if true\nthen\n\techo 'a\\nb'\nfi", '/bin/bash');
  expect(typed).not.toMatch(/[\n\t]/);
  expect(execFileSync('bash', ['-c', typed], { encoding: 'utf8' })).toBe('a\\nb\n');
  expect(oneLineCommand('ls | wc', '/usr/bin/fish')).toBe('ls | wc');
  expect(() => oneLineCommand('a\nb', '/usr/bin/fish')).toThrow('several lines');
  expect(() => withArguments('a', ['b'], 'pwsh')).toThrow('how pwsh quotes');
});
