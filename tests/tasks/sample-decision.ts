import type { SessionRequest } from '../../src/claude/session.js';
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

/** What a session asks: whether a command may run. */
export function sampleRequest(more: Partial<SessionRequest> = {}): SessionRequest {
  return {
    requestId: 'r1',
    kind: 'permission',
    tool: 'Bash',
    input: { command: 'make' },
    summary: 'Bash(make)',
    options: [],
    source: 'exact',
    folder: '/p',
    ...more,
  };
}
