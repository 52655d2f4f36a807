import { expect, test } from 'vitest';
import { readable } from '../../src/mcp/readable.js';

test('an answer reads as lines of names and values', () => {
  const answer = {
    task_id: 'task_1',
    exit_code: null,
    more: false,
    missing: undefined,
    files: ['a.ts', 'b.ts'],
    none: [],
    decisions: [{ decision_id: 'dec_1', options: ['Yes', 'No'] }],
    inner: { a: 1, words: 'x\ny' },
    text: 'line one\n  line two',
  };
  expect(readable(answer)).toBe(
    [
      'task_id: task_1',
      'exit_code: null',
      'more: false',
      'files:',
      '- a.ts',
      '- b.ts',
      'none: none',
      'decisions:',
      '- decision_id: dec_1',
      '  options:',
      '  - Yes',
      '  - No',
      'inner:',
      '  a: 1',
      '  words:',
      '  x',
      '  y',
      'text:',
      'line one',
      '  line two',
    ].join('\n'),
  );
});

test('items of a list read alike, whether all in them is on one line or not', () => {
  const items = [
    { name: 'a', size: 0, missing: undefined },
    { name: 'b', is_last: false, size: null, ratio: 0.5 },
    { missing: undefined, note: 'x\ny', name: 'c' },
    { name: '', tags: [], inner: { size: -1 } },
  ];
  expect(readable({ items, outer: { items } }).split('\n')).toEqual([
    'items:',
    '- name: a',
    '  size: 0',
    '- name: b',
    '  is_last: false',
    '  size: null',
    '  ratio: 0.5',
    '- note:',
    '  x',
    '  y',
    '  name: c',
    '- name: ',
    '  tags: none',
    '  inner:',
    '    size: -1',
    'outer:',
    '  items:',
    '  - name: a',
    '    size: 0',
    '  - name: b',
    '    is_last: false',
    '    size: null',
    '    ratio: 0.5',
    '  - note:',
    '    x',
    '    y',
    '    name: c',
    '  - name: ',
    '    tags: none',
    '    inner:',
    '      size: -1',
  ]);
});
