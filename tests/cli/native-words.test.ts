import { expect, it } from 'vitest';
import { offWords } from '../../src/cli/native.js';
import { taskDetails } from '../../src/cli/tasks-text.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { sampleRecord } from '../tasks/sample-task.js';

it.each([
  [0, 'Off: no session is seen any more.\n'],
  [1, 'Off: no session is seen any more. 1 session that was seen goes on without the bridge.\n'],
  [2, 'Off: no session is seen any more. 2 sessions that were seen go on without the bridge.\n'],
])('native off says what becomes of %i sessions, and that what was recorded stays', (count, words) => {
  expect(offWords(count)).toBe(`${words}What was recorded stays as ended tasks.\n`);
});

it.each([
  ['native', 'native'],
  ['interactive', 'tasks'],
] as const)('a task with the driver %s is answered with %s answer', (driver, group) => {
  const record = sampleRecord({ driver, status: 'waiting', decisions: [sampleDecision()] });
  const shown = taskDetails(record, { nowMs: 0, homeDir: '/home/ann', command: 'bridge' });
  expect(shown).toContain(`\nbridge ${group} answer ${record.task_id} dec_1 allow\n`);
});
