import { describe, expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import {
  answerLines,
  answerOf,
  answerOfWords,
  chosen,
  decisionLines,
  openDecision,
  requestWords,
  requireTask,
  typedChoice,
  typedVerdict,
} from '../../src/cli/decisions.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { sampleRecord } from '../tasks/sample-task.js';
import { piped, terminal } from './looks.js';

const colour = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [{ label: 'Red', description: 'like fire' }, { label: 'Blue' }],
};
const parts = { ...colour, question: 'Which parts?', header: 'Parts', multiSelect: true };
const request = sampleDecision();
const questions = sampleDecision({ kind: 'question', questions: [colour, parts] });
const shared = { decision_id: 'dec_1', by: 'terminal' };

describe('what is asked', () => {
  it('is shown whole, without control characters', () => {
    const asked = sampleDecision({ input: { command: 'echo \u001b[2J\nrm -rf x' }, why: 'a rule asks' });
    expect(decisionLines(asked, piped).join('\n')).toBe(
      '? dec_1: Bash\n| echo \\u001b[2J\n|     rm -rf x\nWhy it is asked: a rule asks',
    );
    expect(decisionLines(questions, piped).join('\n')).toBe(
      '? dec_1: 2 questions\nWhich colour?\n  1  Red: like fire\n  2  Blue\nWhich parts? (several may be chosen)\n  1  Red: like fire\n  2  Blue',
    );
  });

  it('is broken at words in a terminal, and no row looks like a line of its own', () => {
    const asked = sampleDecision({ input: { command: 'echo one two three four five | description: no' } });
    expect(decisionLines(asked, terminal(24))).toEqual([
      '<bold><yellow>? dec_1: Bash</yellow></bold>',
      '| echo one two three\n  four five |\n  description: no',
    ]);
  });

  it('comes with one command for each answer, in which a shell finds nothing of its own', () => {
    const question = sampleDecision({ kind: 'question', questions: [colour] });
    const begin = 'bridge tasks answer task_1';
    const commandsFor = (decision: typeof request): string[] => answerLines(decision, begin).slice(1);
    expect(commandsFor(request)).toEqual([
      `${begin} dec_1 allow`,
      `${begin} dec_1 allow_session`,
      `${begin} dec_1 deny`,
    ]);
    expect(commandsFor(question)).toEqual([
      `${begin} dec_1 --option 1`,
      `${begin} dec_1 --option 2`,
      `${begin} dec_1 deny`,
    ]);
    // Of several questions none is answered by what is pasted.
    expect(commandsFor(questions)).toEqual([`${begin} dec_1 deny`, `${begin} dec_1`]);
    expect(answerLines(questions, begin)[0]).toContain('several choices as --option 1,2');
    expect(answerLines(question, begin)[0]).not.toContain('several');
    for (const decision of [request, question, questions])
      for (const line of commandsFor(decision)) expect(line).toMatch(/^[\w -]+$/);
  });
});

describe('typed words', () => {
  it.each([
    ['1', { verdict: 'allow' }],
    ['2', { verdict: 'allow_session' }],
    ['allow_session', { verdict: 'allow_session' }],
    ['3', { verdict: 'deny' }],
    ['y', { verdict: 'allow' }],
    ['deny  use pnpm instead', { verdict: 'deny', message: 'use pnpm instead' }],
    ['3 not now', { verdict: 'deny', message: 'not now' }],
  ])('%j is an answer', (line, answer) => {
    expect(typedVerdict(request, line)).toEqual({ ...shared, ...answer });
  });

  it.each(['', '4', 'allow it', 'y u no', 'nothing', 'a', 'session'])('%j is none', (line) => {
    expect(typedVerdict(request, line)).toBeUndefined();
  });

  it('allow nothing that is too long to be shown', () => {
    const long = sampleDecision({ input_is_cut: true });
    expect(typedVerdict(long, 'allow')).toBeUndefined();
    expect(requestWords(long)).not.toContain('allow once');
    expect(typedVerdict(long, 'deny')).toMatchObject({ verdict: 'deny' });
  });

  it.each([
    [colour, '2', 'Blue'],
    [colour, ' Green ', 'Green'],
    [colour, '7', undefined],
    [colour, '', undefined],
    [{ ...colour, options: [] }, '1, 2', '1, 2'],
    [parts, '1, 2', 'Red, Blue'],
    [parts, '1 9', undefined],
  ])('of the options of a question: %o %j', (question, text, label) => {
    expect(chosen(question, text)).toBe(label);
  });
});

describe('the words of tasks answer', () => {
  const given = { decision_id: 'dec_1', by: 'command line' };

  it('answer a request or its questions', () => {
    expect(answerOf(request, { verdict: 'allow_session' })).toEqual({ ...given, verdict: 'allow_session' });
    expect(answerOf(questions, { verdict: 'deny', message: 'ask me later' })).toEqual({
      ...given,
      verdict: 'deny',
      message: 'ask me later',
    });
    expect(answerOf(questions, { options: ['2', 'the roof'] })).toEqual({
      ...given,
      verdict: 'allow',
      answers: { 'Which colour?': 'Blue', 'Which parts?': 'the roof' },
    });
  });

  it.each([
    [['y'], [], { verdict: 'allow', options: [] }],
    [
      ['dec_2', 'n', 'Use', 'pnpm.'],
      [],
      { decision: 'dec_2', verdict: 'deny', message: 'Use pnpm.', options: [] },
    ],
    [['2'], [], { options: ['2'] }],
    [['the', 'blue', 'one'], [], { options: ['the blue one'] }],
    [['dec_1'], ['1', '2'], { decision: 'dec_1', options: ['1', '2'] }],
  ])('%j with --option %j is read as %j', (words, option, answer) => {
    expect(answerOfWords(words, option)).toEqual(answer);
  });

  it.each([
    [['y', 'please'], []],
    [['2'], ['1']],
  ])('that are two answers are refused: %j %j', (words, option) => {
    expect(() => answerOfWords(words, option)).toThrow('is more than one answer');
  });

  it.each([
    [request, {}, 'How to answer dec_1 is not said.'],
    [request, { verdict: 'allow', options: ['1'] }, "dec_1 is no question, so '1' is no answer to it."],
    [questions, { verdict: 'allow' }, 'dec_1 needs one --option for each question (2)'],
    [questions, { options: ['1'] }, 'dec_1 needs one --option for each question (2)'],
    [questions, { options: ['1', '8'] }, "'8' is no option of dec_1, which has 2."],
  ] as const)('that do not fit are refused: %o %o', (decision, given, words) => {
    expect(() => answerOf(decision, given)).toThrow(BridgeError);
    expect(() => answerOf(decision, given)).toThrow(words);
  });
});

const closed_at = '2026-01-01T00:01:00.000Z';
const denied = sampleDecision({ closed_at, verdict: 'deny', answered_by: 'terminal' });
const withdrawn = sampleDecision({
  closed_at,
  verdict: 'withdrawn',
  answered_by: 'terminal',
  reason: 'allowed in the terminal',
});
const second = sampleDecision({ decision_id: 'dec_2' });

function pick(more: Partial<TaskRecord>, id?: string) {
  const record = sampleRecord({ driver: 'native', status: 'running', ...more });
  return () => openDecision(record, id, 'bridge');
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
    { decisions: [denied], id: undefined, words: 'dec_1 was already answered: deny by terminal.' },
    { decisions: [withdrawn], id: undefined, words: 'dec_1 is closed: allowed in the terminal.' },
  ])('that is closed says how: $words', ({ decisions, id, words }) => {
    expect(pick({ decisions }, id)).toThrow(
      expect.objectContaining({ code: 'DECISION_CLOSED', message: words }),
    );
  });

  it('is none when the last one was closed by a rule, or the task has ended', () => {
    const none = expect.objectContaining({
      code: 'DECISION_NOT_FOUND',
      hint: expect.stringContaining('bridge native show') as string,
    }) as Error;
    expect(pick({ decisions: [{ ...denied, answered_by: 'rule' }] })).toThrow(none);
    expect(pick({ decisions: [denied], status: 'completed' })).toThrow(none);
  });
});

it.each(['y', 'N', ' s '])('typed alone below a question, the key %j of a request is no answer', (line) => {
  expect(typedChoice(colour, line)).toBeUndefined();
  expect(typedChoice(colour, `${line} please`)).toBe(`${line} please`.trim());
  expect(typedChoice({ ...colour, options: [] }, line)).toBe(line.trim());
  expect(typedChoice(colour, '2')).toBe('Blue');
});

it.each(['y', 'deny'])('%s instead of the task is refused with the words for both', (task) => {
  expect(() => requireTask(task, {}, 'bridge tasks answer')).toThrow('the id of the task is missing');
  expect(() => requireTask('ef0123', {}, 'bridge tasks answer')).not.toThrow();
  expect(() => requireTask(task, { verdict: 'allow' }, 'bridge tasks answer')).not.toThrow();
});
