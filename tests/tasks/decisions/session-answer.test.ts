import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../../src/claude/session.js';
import { answerInWords, sessionAnswerFor } from '../../../src/tasks/decisions/session-answer.js';

function request(more: Partial<SessionRequest> = {}): SessionRequest {
  return {
    requestId: 'r1',
    kind: 'permission',
    tool: 'Bash',
    input: { command: 'make' },
    summary: 'Bash(make)',
    options: [],
    source: 'exact',
    ...more,
  };
}

const answer = { decision_id: 'dec_1', by: 'caller' } as const;

describe('the answer for a session', () => {
  const one = {
    question: 'Which?',
    header: 'Choice',
    multiSelect: false,
    options: [{ label: 'A' }, { label: 'B' }],
  };
  const two = { question: 'How many?', header: 'Count', multiSelect: false, options: [{ label: '1' }] };

  it('a denial carries words, its own when none were given', () => {
    expect(sessionAnswerFor(request(), { ...answer, verdict: 'deny', message: ' Not so. ' })).toEqual({
      verdict: 'deny',
      message: 'Not so.',
    });
    expect(sessionAnswerFor(request(), { ...answer, verdict: 'deny' })).toMatchObject({
      message: 'The user declined this request.',
    });
  });

  it.each([
    { given: { answers: { 'Which?': 'B' } } },
    { given: { answers: { 'which one': 'B' } } },
    { given: { message: 'B' } },
  ])('one question takes $given', ({ given }) => {
    const asked = request({ kind: 'question', questions: [one] });
    expect(sessionAnswerFor(asked, { ...answer, verdict: 'allow', ...given })).toEqual({
      verdict: 'allow',
      answers: { 'Which?': 'B' },
    });
  });

  it('each of several questions needs its own answer', () => {
    const asked = request({ kind: 'question', questions: [one, two] });
    const answers = { 'Which?': 'A' };
    expect(() => sessionAnswerFor(asked, { ...answer, verdict: 'allow', answers })).toThrow(/'How many\?'/);
    expect(
      sessionAnswerFor(asked, { ...answer, verdict: 'allow', answers: { ...answers, Count: 'seven' } }),
    ).toEqual({ verdict: 'allow', answers: { 'Which?': 'A', 'How many?': 'seven' } });
  });
});

describe('an edited input', () => {
  const bash = request({ input: { command: 'make', timeout: 5, tags: ['a'] } });
  const edited = (answers: Readonly<Record<string, string>>, of = bash) =>
    sessionAnswerFor(of, { ...answer, verdict: 'allow', answers });

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
  ])('is refused when it does not fit: %j', (answers, words) => {
    expect(() => edited(answers)).toThrow(words);
  });

  it.each([
    ['Skill', 'skill'],
    ['Agent', 'subagent_type'],
  ])('cannot change which %s runs, which rules name', (tool, field) => {
    const asked = request({ tool, input: { [field]: 'good', more: 'a' } });
    expect(() => edited({ [field]: 'evil' }, asked)).toThrow(
      `The field '${field}' of ${tool} names what runs`,
    );
    expect(edited({ [field]: 'good', more: 'b' }, asked)).toMatchObject({
      input: { [field]: 'good', more: 'b' },
    });
  });

  it('is refused by a dialog on the screen, and for a whole session', () => {
    const onScreen = request({ source: 'observed', options: ['Yes', 'No'] });
    expect(() => edited({ command: 'x' }, onScreen)).toThrow(/takes one of its options \(Yes \| No\)/);
    const answers = { command: 'x' };
    expect(() => sessionAnswerFor(bash, { ...answer, verdict: 'allow_session', answers })).toThrow(
      /can be allowed once/,
    );
  });
});

describe('the mode that follows a plan', () => {
  const plan = request({ kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Go.' } });
  const approved = (answers: Readonly<Record<string, string>>, of = plan) =>
    sessionAnswerFor(of, { ...answer, verdict: 'allow', answers });

  it.each([
    { mode: 'acceptEdits', session: 'acceptEdits' },
    { mode: 'default', session: 'default' },
    { mode: 'auto', session: 'default' },
    { mode: 'cautious', session: 'default' },
  ])('$mode is $session for the session', ({ mode, session }) => {
    expect(approved({ mode })).toEqual({ verdict: 'allow', mode: session });
  });

  it('goes together with an edited plan', () => {
    expect(approved({ mode: 'acceptEdits', plan: '1. Stop.' })).toEqual({
      verdict: 'allow',
      mode: 'acceptEdits',
      input: { plan: '1. Stop.' },
    });
  });

  it.each(['bypassPermissions', 'plan', 'dontAsk', 'x'])('%s is refused', (mode) => {
    expect(() => approved({ mode })).toThrow(/is no permission mode for what follows a plan/);
  });

  it('on the screen it is had where the dialog offers it', () => {
    const offered = (options: readonly string[]) => ({ ...plan, source: 'observed' as const, options });
    expect(approved({ mode: 'acceptEdits' }, offered(['Yes, and switch to accept edits']))).toMatchObject({
      mode: 'acceptEdits',
    });
    expect(() => approved({ mode: 'acceptEdits' }, offered(['Yes, manually approve edits', 'No']))).toThrow(
      /does not offer to accept edits/,
    );
    expect(approved({ mode: 'auto' }, offered(['Yes', 'No']))).toMatchObject({ mode: 'default' });
  });

  it('is a field like others where no plan is asked', () => {
    expect(() =>
      sessionAnswerFor(request(), { ...answer, verdict: 'allow', answers: { mode: 'auto' } }),
    ).toThrow(/'mode' is no field/);
  });
});

it('the record has what was said, edited or chosen', () => {
  const inWords = (given: Parameters<typeof sessionAnswerFor>[1]) =>
    answerInWords(given, sessionAnswerFor(request(), given));
  expect(inWords({ ...answer, verdict: 'allow' })).toBeNull();
  expect(inWords({ ...answer, verdict: 'deny', message: 'No.' })).toBe('No.');
  expect(inWords({ ...answer, verdict: 'allow', answers: { command: 'make -n' } })).toBe('command → make -n');
});
