import { describe, expect, it } from 'vitest';
import { permissionResponse, userMessage } from '../../../src/claude/print/control-messages.js';

const asked = {
  tool: 'Bash',
  input: { command: 'make' },
  suggestions: [
    { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'make *' }], destination: 'localSettings' },
  ],
};
const questions = [
  { question: 'Which database?', header: 'Database', multiSelect: false, options: [{ label: 'SQLite' }] },
  { question: 'Which port?', header: 'Port', multiSelect: false, options: [] },
];

function answerOf(line: string): unknown {
  const parsed: unknown = JSON.parse(line);
  return parsed;
}

describe('permissionResponse', () => {
  it('allows with the requested input', () => {
    expect(answerOf(permissionResponse('r', asked, { verdict: 'allow' }))).toEqual({
      type: 'control_response',
      response: {
        subtype: 'success',
        request_id: 'r',
        response: { behavior: 'allow', updatedInput: { command: 'make' } },
      },
    });
  });

  it('allows for the session without writing into the project’s settings', () => {
    const web = { ...asked, tool: 'WebFetch' };
    expect(answerOf(permissionResponse('r', web, { verdict: 'allow_session' }))).toMatchObject({
      response: { response: { updatedPermissions: [{ type: 'addRules', destination: 'session' }] } },
    });
  });

  it('allows a command for the session without the rule that the CLI suggests, which covers others too', () => {
    const line = permissionResponse('r', asked, { verdict: 'allow_session' });
    expect(answerOf(line)).toMatchObject({ response: { response: { behavior: 'allow' } } });
    expect(line).not.toContain('updatedPermissions');
  });

  it('denies with the message for the model', () => {
    expect(answerOf(permissionResponse('r', asked, { verdict: 'deny', message: 'No.' }))).toMatchObject({
      response: { response: { behavior: 'deny', message: 'No.' } },
    });
  });

  it('accepts answers by question or by header', () => {
    const answers = { Database: 'SQLite', 'Which port?': '5432' };
    const line = permissionResponse(
      'r',
      { tool: 'AskUserQuestion', input: { questions: [] }, suggestions: [], questions },
      { verdict: 'allow', answers },
    );
    expect(answerOf(line)).toMatchObject({
      response: {
        response: {
          updatedInput: { questions: [], answers: { 'Which database?': 'SQLite', 'Which port?': '5432' } },
        },
      },
    });
  });
});

describe('userMessage', () => {
  it('is one line, whatever the text contains', () => {
    const text = 'a\nb\r\u2028"\\\u0000';
    const line = userMessage(text);
    expect(line.trimEnd()).not.toMatch(/[\n\r]/);
    expect(answerOf(line)).toMatchObject({ message: { content: [{ type: 'text', text }] } });
  });
});
