import type { SessionGuard } from '../../src/claude/session.js';

/** Leaves every call to Claude Code. */
export const passingGuard: SessionGuard = {
  beforeTool: () => Promise.resolve({ verdict: 'pass', reason: '' }),
  instructedBy: () => undefined,
  startedAgent: () => undefined,
};
