import { describe, expect, it } from 'vitest';
import { DecisionBook } from '../../../src/tasks/decisions/decision-book.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRequest } from '../sample-decision.js';

function book(): { book: DecisionBook; clock: ManualClock; late: string[] } {
  const clock = new ManualClock();
  const late: string[] = [];
  return { clock, late, book: new DecisionBook(clock, 60, (id) => late.push(id)) };
}

describe('the book of decisions', () => {
  it('keeps a hundred, open ones always', () => {
    const { book: decisions } = book();
    decisions.open(sampleRequest({ requestId: 'kept' }));
    for (let number = 0; number < 150; number++)
      decisions.record(sampleRequest({ requestId: `r${number}` }), 'allow', 'a rule');
    expect(decisions.all).toHaveLength(100);
    expect(decisions.all[0]).toMatchObject({ decision_id: 'dec_1', closed_at: null });
    expect(decisions.all.at(-1)?.decision_id).toBe('dec_151');
    expect(decisions.recorded.decisions_dropped).toBe(51);
  });

  it('opens fifty at a time, and says to the agent why it opens no more', () => {
    const { book: decisions } = book();
    for (let number = 0; number < 50; number++) decisions.open(sampleRequest({ requestId: `r${number}` }));
    expect(decisions.refusal(sampleRequest())).toMatch(/^50 requests of this session wait .* ask again\.$/);
    decisions.close('dec_1', { verdict: 'deny', by: 'caller', reason: null });
    expect(decisions.refusal(sampleRequest())).toBeUndefined();
  });

  it('opens no question that is too long to be shown whole', () => {
    const { book: decisions } = book();
    const question = { question: 'Which?', header: '', multiSelect: false };
    const long = Array.from({ length: 1_000 }, (_, index) => ({ label: `option ${index}` }));
    expect(decisions.refusal(sampleRequest({ questions: [{ ...question, options: [] }] }))).toBeUndefined();
    expect(decisions.refusal(sampleRequest({ questions: [{ ...question, options: long }] }))).toMatch(
      /longer than 8000 bytes.*fewer words/,
    );
    expect(decisions.refusal(sampleRequest({ options: long.map(({ label }) => label) }))).toMatch(
      /fewer words/,
    );
  });

  it.each([
    { what: 'one long field', input: { command: '\u0001'.repeat(40_000) } },
    { what: 'long names', input: Object.fromEntries([['n'.repeat(40_000), 1]]) },
  ])('is small, whatever fifty open requests hold: $what', ({ input }) => {
    const { book: decisions } = book();
    const flood = sampleRequest({ input, tool: 't'.repeat(10_000), summary: 's'.repeat(10_000) });
    while (decisions.refusal(flood) === undefined) decisions.open(flood, { why: 'w'.repeat(10_000) });
    expect(decisions.openIds.length).toBeGreaterThan(5);
    expect(decisions.openIds.length).toBeLessThanOrEqual(50);
    expect(JSON.stringify(decisions.all).length).toBeLessThan(200_000);
    for (const id of decisions.openIds)
      decisions.close(id, { verdict: 'deny', by: 'caller', reason: 'r'.repeat(100_000) });
    for (let number = 0; number < 100; number++) decisions.record(flood, 'deny', 'r'.repeat(100_000));
    expect(JSON.stringify(decisions.all).length).toBeLessThan(250_000);
  });
});
