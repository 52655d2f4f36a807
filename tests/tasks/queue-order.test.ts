import { expect, it } from 'vitest';
import { projectBusy } from '../../src/tasks/queue/queue-order.js';
import { sampleDecision } from './sample-decision.js';

const holder = { task_id: 'task_1', project_path: '/p', since: '2026-01-01T00:00:00.000Z', isQueued: false };

it('a project that is taken says what its task asks, and first how that is answered', () => {
  const busy = projectBusy('/p', holder, Date.parse(holder.since), [sampleDecision({ summary: 'Bash ls' })]);
  expect(busy.message).toMatch(/Existing task ID: task_1 .* It waits for an answer to dec_\w+: Bash ls\.$/);
  expect(busy.hint).toMatch(/^Answer it with respond_to_task task_1\. Start it with on_conflict/);
  expect(projectBusy('/p', holder, 0).hint).not.toContain('respond_to_task');
});
