import { describe, expect, it } from 'vitest';
import { permissionResponse, userMessage } from '../../../src/claude/print/control-messages.js';

const asked = {
  tool: 'Bash',
  input: { command: 'make' },
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

  it('grants nothing beyond the request for a yes for the session, which the bridge remembers', () => {
    const line = permissionResponse('r', asked, { verdict: 'allow_session' });
    expect(answerOf(line)).toMatchObject({ response: { response: { behavior: 'allow' } } });
    expect(line).not.toContain('updatedPermissions');
  });

  it('denies with the message for the model', () => {
    expect(answerOf(permissionResponse('r', asked, { verdict: 'deny', message: 'No.' }))).toMatchObject({
      response: { response: { behavior: 'deny', message: 'No.' } },
    });
  });

  it('accepts answers by question or by header, and passes on none that the agent wrote', () => {
    const answers = { Database: 'SQLite', 'Which port?': '5432' };
    const line = permissionResponse(
      'r',
      {
        tool: 'AskUserQuestion',
        input: { questions: [], annotations: { x: {} }, answers: { x: 'y' } },
        questions,
      },
      { verdict: 'allow', answers },
    );
    expect(answerOf(line)).toHaveProperty(['response', 'response'], {
      behavior: 'allow',
      updatedInput: { questions: [], answers: { 'Which database?': 'SQLite', 'Which port?': '5432' } },
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
