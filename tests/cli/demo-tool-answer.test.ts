import { expect, test } from 'vitest';
import { structuredContentOf } from '../../src/cli/demo/tool-answer.js';

test('an error answer, which has no structured content, is thrown with its words', () => {
  const answer = {
    isError: true,
    content: [{ type: 'text', text: 'TASK_START_FAILED: It is so. Do this.' }],
  };
  expect(() => structuredContentOf('start_task', answer)).toThrow(
    'start_task was refused: TASK_START_FAILED: It is so. Do this.',
  );
});
