import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseStreamLine } from '../../../src/claude/print/stream-json.js';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'stream-json');

describe('parseStreamLine', () => {
  it.each(['', 'text', '{"type":', '[1]', 'null', '{"no":"type"}', '{"type":7}'])(
    '%j is not a line of the stream',
    (line) => {
      expect(parseStreamLine(line)).toBeUndefined();
    },
  );

  it.each([
    '{"type":"something_new","x":1}',
    '{"type":"system","subtype":"something_new"}',
    '{"type":"system"}',
    '{"type":"assistant","message":7}',
    '{"type":"result"}',
    '{"type":"control_request","request_id":5}',
    '{"type":"control_response","response":{"subtype":"success","request_id":"a"}}',
  ])('%s is kept as unknown', (line) => {
    expect(parseStreamLine(line)?.kind).toBe('unknown');
  });

  it('keeps the known blocks among unknown ones', () => {
    const content = [
      { type: 'thinking', thinking: '…' },
      { type: 'text', text: 'Hi' },
      { type: 'new_block' },
    ];
    const line = JSON.stringify({ type: 'assistant', message: { content }, parent_tool_use_id: 'toolu_1' });
    expect(parseStreamLine(line)).toEqual({
      kind: 'assistant',
      blocks: [{ type: 'text', text: 'Hi' }],
      isSubagent: true,
    });
  });

  it('names a control request that it does not handle', () => {
    const line = '{"type":"control_request","request_id":"a","request":{"subtype":"hook_callback","x":1}}';
    expect(parseStreamLine(line)).toEqual({
      kind: 'other-request',
      requestId: 'a',
      subtype: 'hook_callback',
    });
  });

  it.each(['2.1.330'])('knows every kind that matters in the recordings of %s', (version) => {
    const cases = ['write', 'question', 'plan', 'api-error', 'not-logged-in', 'interrupted', 'subagent'];
    const kinds = new Set(
      cases
        .flatMap((name) =>
          readFileSync(join(fixtures, version, `${name}.ndjson`), 'utf8')
            .trim()
            .split('\n'),
        )
        .map((line) => parseStreamLine(line)?.kind),
    );
    expect(kinds).not.toContain(undefined);
    for (const kind of [
      'init',
      'assistant',
      'tool-results',
      'permission',
      'request-cancelled',
      'api-retry',
      'result',
    ]) {
      expect(kinds).toContain(kind);
    }
    expect(kinds).toContain('background-ended');
  });
});
