import { execFileSync } from 'node:child_process';
import { describe, expect, inject, test } from 'vitest';
import { coveringRule, exactRule } from '../../src/approvals/covering-rule.js';
import { readPlainLine } from '../../src/approvals/shell/plain-line.js';
import { evaluators, keywords } from '../../src/approvals/shell/shell-commands.js';
import { compileRules } from '../../src/approvals/user-rules.js';
import { row } from './shell-project.js';

function rulesOf(rule: string): ReturnType<typeof compileRules>['allow'] {
  return compileRules([row(rule, 'allow')], { projectPath: '/p', homeDir: '/h' }).allow;
}

function covers(rule: string, line: string): boolean {
  const plain = readPlainLine(line);
  if ('reason' in plain) return false;
  return plain.commands.every((command) => coveringRule(rulesOf(rule), command) !== undefined);
}

describe('file names that the shell expands a word to', () => {
  test.each([
    ['Bash(cat *)', 'cat src/*', true],
    ['Bash(cat *)', 'cat -n src/* more', true],
    ['Bash(cat src/ *)', 'cat src/ a*', true],
    // A second name would be an argument that the rule does not show.
    ['Bash(cat src/*)', 'cat src/*', false],
    ['Bash(cat src/a)', 'cat src/a*', false],
    ['Bash(cp src/* dist)', 'cp src/a* dist', false],
    ['Bash(npm * build)', 'npm r* build', false],
    ['Bash(git diff *)', 'git d*', false],
    ['Bash(git diff *)', 'git diff HEAD~1', true],
    ['Bash(git diff HEAD~1)', 'git diff HEAD~1', false],
  ])('are covered by %s in %j: %s', (rule, line, isCovered) => {
    expect(covers(rule, line)).toBe(isCovered);
  });
});

describe('a rule', () => {
  test.each([
    ['Bash(* test)', 'npm test'],
    ['Bash(np*)', 'npm'],
    ['Bash(np* *)', 'npm test'],
  ])('%s names no program, and covers nothing: %j', (rule, line) => {
    expect(covers(rule, line)).toBe(false);
  });

  test.each([...keywords].filter((word) => /^\w+$/.test(word)))(
    'with a * does not cover the keyword %s',
    (word) => {
      expect(covers(`Bash(${word} *)`, `${word} x`)).toBe(false);
      expect(covers(`Bash(${word} x)`, `${word} x`)).toBe(false);
    },
  );

  test('with a * does not cover builtins that evaluate; without one it does', () => {
    for (const line of [
      "printf %d 'path[$(id)]'",
      "test -v 'a[$(id)]'",
      'export PATH=./bin',
      'eval id',
      'source x',
    ]) {
      expect(covers(`Bash(${line.split(' ')[0] ?? ''} *)`, line)).toBe(false);
    }
    expect(covers('Bash(source .venv/bin/activate)', 'source .venv/bin/activate')).toBe(true);
  });

  test('that equals the line exactly allows it, unless file names change its meaning', () => {
    const line = 'CI=1 npm test > out.log 2>&1';
    expect(exactRule(rulesOf(`Bash(${line})`), line)).toBeDefined();
    for (const other of [`${line};`, `${line} `, `\u00a0${line}`, `${line}\r`])
      expect(exactRule(rulesOf(`Bash(${line})`), other)).toBeUndefined();
    expect(exactRule(rulesOf('Bash(rg x \\*)'), 'rg x *')).toBeUndefined();
    expect(exactRule(rulesOf('Bash(rg x ?)'), 'rg x ?')).toBeUndefined();
  });
});

describe('the names of evaluating builtins', () => {
  /** They print, look up, end processes or change the folder. */
  const harmless = [
    ':',
    'cd',
    'chdir',
    'echo',
    'false',
    'kill',
    'pwd',
    'true',
    'type',
    'whence',
    'where',
    'which',
  ];

  const shells = [
    { shell: 'bash', args: ['-c', 'compgen -b; compgen -k'], isHere: true },
    {
      shell: 'zsh',
      args: ['-fc', 'print -l ${(k)builtins} ${(k)reswords}'],
      isHere: !inject('missing').includes('shells'),
    },
  ];
  test.each(shells.filter(({ isHere }) => isHere))(
    'hold all commands and keywords of $shell',
    ({ shell, args }) => {
      const names = execFileSync(shell, args, { encoding: 'utf8' })
        .split('\n')
        .filter((name) => name !== '');
      expect(names.length).toBeGreaterThan(50);
      expect(
        names.filter((name) => !evaluators.has(name) && !keywords.has(name) && !harmless.includes(name)),
      ).toEqual([]);
    },
  );
});
