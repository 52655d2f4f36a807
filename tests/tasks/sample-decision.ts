import type { Decision } from '../../src/tasks/task.js';

/** A decision that is open: whether a command may run. */
export function sampleDecision(more: Partial<Decision> = {}): Decision {
  return {
    decision_id: 'dec_1',
    kind: 'permission',
    tool: 'Bash',
    input: { command: 'npm test' },
    summary: 'Bash(npm test)',
    options: [],
    asked_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:10:00.000Z',
    closed_at: null,
    verdict: null,
    answered_by: null,
    reason: null,
    ...more,
  };
}
