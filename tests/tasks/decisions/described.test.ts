import { expect, test } from 'vitest';
import { described } from '../../../src/tasks/decisions/described.js';
import { sampleDecision } from '../sample-decision.js';

const answers = (...given: Parameters<typeof described>) =>
  described(...given).choices.map(({ key, answer }) => `${key} ${answer}`);

test('a permission is allowed once, for the session, or denied; every other kind has one yes', () => {
  expect(answers(sampleDecision())).toEqual(['y allow', 's allow_session', 'n deny']);
  for (const kind of ['question', 'plan', 'trust', 'prompt'] as const)
    expect(answers(sampleDecision({ kind }))).toEqual(['y allow', 'n deny']);
});

test('the whole request is given, with what is asked for', () => {
  expect(described(sampleDecision({ tool: 'Bash', input: { command: 'npm test' } }))).toMatchObject({
    asks: 'asks for permission: Bash',
    request: 'npm test',
    cut: null,
    otherwise: 'denied',
  });
  expect(described(sampleDecision({ is_left: true })).otherwise).toBe('left to its terminal');
});

test('what is not shown whole has no yes, and says so', () => {
  const long = sampleDecision({ input: { command: 'x'.repeat(9_000) } });
  for (const one of [
    described(long),
    described(sampleDecision(), false),
    described(sampleDecision({ input_is_cut: true }), true),
  ])
    expect(one).toMatchObject({
      choices: [{ answer: 'deny' }],
      cut: expect.stringContaining('only the beginning') as string,
    });
  // A page has room for it.
  expect(described(long, true).cut).toBeNull();
});
