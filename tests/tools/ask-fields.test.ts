import { expect, it } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { askView, mustHaveAnswer } from '../../src/tools/conversation/ask-view.js';
import { sampleRecord } from '../tasks/sample-task.js';

const failed = sampleRecord({
  purpose: 'ask',
  status: 'failed',
  reason: "Claude Code stopped: You've hit your 5-hour limit. The usage limit is reached until 09:31 UTC.",
  ended_at: '2026-11-22T07:32:00.000Z',
  exit_code: 1,
  trouble: { kind: 'usage-limit', since: '2026-11-22T07:32:00.000Z', resumes_at: '2026-11-22T09:31:00.000Z' },
});

it('a question that a limit kept from an answer fails with the kind and the time, in words and for programs', () => {
  let thrown: unknown;
  try {
    mustHaveAnswer(failed);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(BridgeError);
  expect(thrown).toMatchObject({
    code: 'ASK_FAILED',
    data: { trouble: 'usage-limit', resumes_at: '2026-11-22T09:31:00.000Z' },
  });
  expect(String(thrown)).toContain('until 09:31 UTC');
  expect(askView(failed)).toMatchObject({
    trouble: { kind: 'usage-limit', resumes_at: '2026-11-22T09:31:00.000Z' },
  });
});

it('a long answer comes in parts, each with the cursor of the next', () => {
  const answer = 'Grüße. '.repeat(4_000);
  const record = sampleRecord({
    purpose: 'ask',
    status: 'completed',
    session_id: '11111111-1111-4111-8111-111111111111',
    final_message: answer,
  });
  let whole = '';
  let cursor: string | undefined;
  do {
    const part = askView(record, cursor);
    whole += part.text ?? '';
    cursor = part.cursor;
  } while (cursor !== undefined);
  expect(whole).toBe(answer);
  expect(() => askView(record, 'x')).toThrow('Invalid cursor');
});
