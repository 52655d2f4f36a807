import { describe, expect, it } from 'vitest';
import { openDecision } from '../../src/cli/open-decision.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { sampleRecord } from '../tasks/sample-task.js';

const closed_at = '2026-01-01T00:01:00.000Z';
const denied = sampleDecision({ closed_at, verdict: 'deny', answered_by: 'terminal' });
const withdrawn = sampleDecision({
  closed_at,
  verdict: 'withdrawn',
  answered_by: 'terminal',
  reason: 'allowed in the terminal',
});
const second = sampleDecision({ decision_id: 'dec_2' });

function pick(more: Partial<TaskRecord>, id?: string, secondsLater = 10) {
  const record = sampleRecord({ driver: 'native', status: 'running', ...more });
  const nowMs = Date.parse(closed_at) + secondsLater * 1000;
  return () => openDecision(record, id, { command: 'bridge', nowMs });
}

describe('the decision of an answer', () => {
  it('is the only open one, or that of its name', () => {
    expect(pick({ decisions: [denied, second] })()).toBe(second);
    expect(pick({ decisions: [sampleDecision(), second] }, 'dec_2')()).toBe(second);
    expect(pick({ decisions: [sampleDecision(), second] })).toThrow('asks 2 things: dec_1, dec_2.');
    expect(pick({ decisions: [second] }, 'dec_9')).toThrow("has no open decision 'dec_9'.");
  });

  it.each([
    { decisions: [denied, second], id: 'dec_1', words: 'dec_1 was already answered: deny by terminal.' },
    { decisions: [denied], id: 'dec_1', words: 'dec_1 was already answered: deny by terminal.' },
    { decisions: [denied], id: undefined, words: 'dec_1 was already answered: deny by terminal.' },
    { decisions: [withdrawn], id: undefined, words: 'dec_1 is closed: allowed in the terminal.' },
  ])('that is closed says how: $words', ({ decisions, id, words }) => {
    expect(pick({ decisions }, id)).toThrow(
      expect.objectContaining({ code: 'DECISION_CLOSED', message: words }),
    );
  });

  it('is none when the last one was closed a while ago, by a rule, or the task has ended', () => {
    const none = expect.objectContaining({
      code: 'DECISION_NOT_FOUND',
      hint: expect.stringContaining('bridge native show') as string,
    }) as Error;
    expect(pick({ decisions: [denied] }, undefined, 100)).toThrow(none);
    expect(pick({ decisions: [{ ...denied, answered_by: 'rule' }] })).toThrow(none);
    expect(pick({ decisions: [denied], status: 'completed' })).toThrow(none);
  });
});
