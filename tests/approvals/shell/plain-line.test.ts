import { describe, expect, test } from 'vitest';
import { readPlainLine } from '../../../src/approvals/shell/plain-line.js';

/** The commands of a line with their words, or why it is not plain. */
function read(line: string): string[][] | string {
  const plain = readPlainLine(line);
  return 'reason' in plain
    ? plain.reason
    : plain.commands.map(({ words }) => words.map(({ value, isGlob }) => (isGlob ? `<${value}>` : value)));
}

describe('a line of plain words', () => {
  test.each([
    ['npm test', [['npm', 'test']]],
    ['  npm\ttest \n', [['npm', 'test']]],
    [`echo 'a b' "c 'd'" e'f'"g"`, [['echo', 'a b', "c 'd'", 'efg']]],
    [`echo '' "$"`.replace('$', ''), [['echo', '', '']]],
    ['a && b || c; d | e\nf', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    ["echo '$(id) `id` * \\ ; &'", [['echo', '$(id) `id` * \\ ; &']]],
    ['git diff HEAD~1 HEAD^ v1.0..main', [['git', 'diff', '<HEAD~1>', '<HEAD^>', 'v1.0..main']]],
    ['cat src/*.ts a?', [['cat', '<src/*.ts>', '<a?>']]],
    ["git commit -m 'fix: é\nand more'", [['git', 'commit', '-m', 'fix: é\nand more']]],
  ])('%j is read word by word', (line, commands) => {
    expect(read(line)).toEqual(commands);
  });
});

describe('a line with more than plain words is refused', () => {
  test.each([
    ...['', ' ', ';', 'a;;b', 'a; ', 'a &&', '&& a', 'a | | b', 'a\n\nb', 'a &&\nb'],
    ...['a &', 'a & b', 'a |& b', '(a)', '{ a; }', '! a', 'a > b', 'a 2>&1', 'a < b', 'a <<E\nE', 'a <(b)'],
    ...[
      '$a',
      'a $b',
      'a "$b"',
      'a `b`',
      'a $(b)',
      'a "`b`"',
      'a $((1))',
      "a $'b'",
      'a $"b"',
      'a \\b',
      'a "\\$"',
    ],
    ...[
      'a {b,c}',
      'a [bc]',
      'a b[c]',
      '[ a ]',
      'a !!',
      'a "!!"',
      'a #b',
      'a b#',
      'a +(b)',
      'a *(e:b:)',
      'a b(c)',
    ],
    ...['a ~', 'a ~/b', 'a b=~/c', 'a b:~', 'a ~b', 'a ^b', 'a =b', 'a b==c', 'a b:=c', "a ''=b"],
    ...['a *', 'a ?b', 'a -*', 'a --b=*', 'a =*', 'a "b"*', "a 'b'?", 'a +b*', 'a b*"c"', "a 'b''c'"],
    ...['a\r', 'a\u0000', 'a \u200b', 'a\u00a0b', '\u00a0a', 'é', "a '\u202e'", "a 'b", 'a "b'],
  ])('%j', (line) => {
    expect(typeof read(line)).toBe('string');
  });
});
