import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../../src/claude/session.js';
import { answerInWords, sessionAnswerFor } from '../../../src/tasks/decisions/session-answer.js';
import type { DecisionAnswer } from '../../../src/tasks/task-host.js';
import { sampleRequest } from '../sample-decision.js';

const bash = sampleRequest({ input: { command: 'make', timeout: 5, tags: ['a'] } });
const plan: SessionRequest = { ...bash, kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Go.' } };

const answerOf = (given: Partial<DecisionAnswer>): DecisionAnswer => ({
  decision_id: 'dec_1',
  by: 'caller',
  verdict: 'allow',
  ...given,
});
const answered = (request: SessionRequest, given: Partial<DecisionAnswer>) =>
  sessionAnswerFor(request, answerOf(given));
const edited = (answers: Readonly<Record<string, string>>, request = bash) => answered(request, { answers });

it('a denial carries words, its own when none were given', () => {
  expect(answered(bash, { verdict: 'deny', message: ' Not so. ' })).toEqual({
    verdict: 'deny',
    message: 'Not so.',
  });
  expect(answered(bash, { verdict: 'deny' })).toMatchObject({ message: 'The user declined this request.' });
});

describe('the answer to a question', () => {
  const one = { question: 'Which?', header: 'Choice', multiSelect: false, options: [{ label: 'A' }] };
  const two = { question: 'How many?', header: 'Count', multiSelect: false, options: [{ label: '1' }] };
  const asking = (...questions: readonly (typeof one)[]) => ({
    ...bash,
    kind: 'question' as const,
    questions,
  });

  it.each([{ answers: { 'Which?': 'B' } }, { answers: { 'which one': 'B' } }, { message: 'B' }])(
    'is %j, where there is one question',
    (given) => {
      expect(answered(asking(one), given)).toEqual({ verdict: 'allow', answers: { 'Which?': 'B' } });
    },
  );

  it('is one for each of several', () => {
    const answers = { 'Which?': 'A' };
    expect(() => edited(answers, asking(one, two))).toThrow(/'How many\?'/);
    expect(edited({ ...answers, Count: 'seven' }, asking(one, two))).toEqual({
      verdict: 'allow',
      answers: { 'Which?': 'A', 'How many?': 'seven' },
    });
  });
});

describe('an edited input', () => {
  it('replaces the fields that are named, each by a value of its kind', () => {
    expect(edited({ command: 'make -n', timeout: '10', tags: '["b"]' })).toEqual({
      verdict: 'allow',
      input: { command: 'make -n', timeout: 10, tags: ['b'] },
    });
    expect(edited({ command: 'make', timeout: '5' })).toEqual({ verdict: 'allow' });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ cmd: 'x' }, /'cmd' is no field of what Bash asks about; its fields: command, timeout/],
    [{ constructor: 'x' }, /'constructor' is no field/],
    [{ timeout: 'soon' }, /'timeout' of Bash holds 5, and 'soon' is not JSON of that kind/],
    [{ tags: '{}' }, /is not JSON of that kind/],
    [{ mode: 'auto' }, /'mode' is no field/],
  ])('is refused when it does not fit: %j', (answers, words) => {
    expect(() => edited(answers)).toThrow(words);
  });

  it.each([
    ['Skill', 'skill'],
    ['Agent', 'subagent_type'],
  ])('cannot change which %s runs, which rules name', (tool, field) => {
    const asked = { ...bash, tool, input: { [field]: 'good', more: 'a' } };
    expect(() => edited({ [field]: 'evil' }, asked)).toThrow(`'${field}' of ${tool} names what runs`);
    expect(edited({ more: 'b' }, asked)).toMatchObject({ input: { [field]: 'good', more: 'b' } });
  });

  it('is refused by a dialog on the screen, and for a whole session', () => {
    const onScreen: SessionRequest = { ...bash, source: 'observed', options: ['Yes', 'No'] };
    const answers = { command: 'x' };
    expect(() => edited(answers, onScreen)).toThrow(/takes one of its options \(Yes \| No\)/);
    expect(() => answered(bash, { verdict: 'allow_session', answers })).toThrow(/can be allowed once/);
  });
});

describe('the mode that follows a plan', () => {
  it.each([
    ['acceptEdits', 'acceptEdits'],
    ['default', 'default'],
    ['auto', 'default'],
    ['cautious', 'default'],
  ])('%s is %s for the session, also with an edited plan', (mode, session) => {
    expect(edited({ mode }, plan)).toEqual({ verdict: 'allow', mode: session });
    expect(edited({ mode, plan: '1. Stop.' }, plan)).toMatchObject({ input: { plan: '1. Stop.' } });
  });

  it.each(['bypassPermissions', 'plan', 'x'])('%s is refused', (mode) => {
    expect(() => edited({ mode }, plan)).toThrow(/is no permission mode for what follows a plan/);
  });
});

it('the record has what was said, edited or chosen', () => {
  const inWords = (given: Partial<DecisionAnswer>) => answerInWords(answerOf(given), answered(bash, given));
  expect(inWords({})).toBeNull();
  expect(inWords({ verdict: 'deny', message: 'No.' })).toBe('No.');
  expect(inWords({ answers: { command: 'make -n' } })).toBe('command → make -n');
});
