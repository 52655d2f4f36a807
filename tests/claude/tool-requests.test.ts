import { expect, it } from 'vitest';
import { permissionAnswer } from '../../src/claude/tool-requests.js';

const input = { command: 'make' };

it.each([
  [{ verdict: 'allow' }, { behavior: 'allow', updatedInput: input }],
  // The bridge remembers it: nothing is granted beyond the request.
  [{ verdict: 'allow_session' }, { behavior: 'allow', updatedInput: input }],
  [
    { verdict: 'deny', message: 'No.' },
    { behavior: 'deny', message: 'No.' },
  ],
] as const)('the answer %j is %j for the CLI', (answer, expected) => {
  expect(permissionAnswer({ input }, answer, input)).toEqual(expected);
});

it('answers are taken by question or by header, and none that the agent wrote is passed on', () => {
  const questions = ['Database', 'Port'].map((header) => ({
    ...{ question: `Which ${header}?`, header, multiSelect: false, options: [] },
  }));
  const asked = { input: { questions: [], annotations: { x: {} }, answers: { x: 'y' } }, questions };
  const answers = { Database: 'SQLite', 'Which Port?': '5432' };
  expect(permissionAnswer(asked, { verdict: 'allow', answers }, undefined)).toEqual({
    behavior: 'allow',
    updatedInput: { questions: [], answers: { 'Which Database?': 'SQLite', 'Which Port?': '5432' } },
  });
});
