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
