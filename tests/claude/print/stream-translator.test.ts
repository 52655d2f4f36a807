import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseStreamLine } from '../../../src/claude/print/stream-line.js';
import { StreamTranslator } from '../../../src/claude/print/stream-translator.js';
import type { SessionEvent } from '../../../src/claude/session.js';

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures', 'stream-json');

function translatorOf() {
  const events: SessionEvent[] = [];
  const readable: string[] = [];
  const refused: string[] = [];
  const translator = new StreamTranslator('/home/user/project', {
    onEvent: (event) => events.push(event),
    onReadable: (text) => readable.push(text),
    onUnknownRequest: (requestId) => refused.push(requestId),
    onHook: () => undefined,
    readOutput: () => undefined,
    reasonFor: () => undefined,
  });
  const accept = (line: string) => {
    const event = parseStreamLine(line);
    if (event) translator.accept(event);
  };
  return { translator, events, readable, refused, accept };
}

function replay(version: string, name: string) {
  const made = translatorOf();
  made.translator.promptSent('The prompt.');
  for (const line of readFileSync(join(fixtures, version, `${name}.ndjson`), 'utf8').split('\n'))
    made.accept(line);
  const turnEnds = made.events.filter((event) => event.type === 'turn-ended');
  return { ...made, turnEnds, types: made.events.map((event) => event.type) };
}

describe.each(['2.1.330'])('a recorded stream of %s', (version) => {
  it('with an edit and a denied command reports each step', () => {
    const { events, types, turnEnds, readable } = replay(version, 'write');
    expect(types.slice(0, 4)).toEqual(['session', 'turn-started', 'said', 'tool-started']);
    expect(events[0]).toMatchObject({ cliVersion: version });
    expect(events[1]).toMatchObject({ prompt: 'The prompt.' });
    const finished = events.filter((event) => event.type === 'tool-finished');
    expect(finished).toMatchObject([
      { tool: 'Write', ok: true, filesChanged: ['/home/user/project/hello.txt'] },
      { tool: 'Bash', ok: false, filesChanged: [] },
    ]);
    expect(events.find((event) => event.type === 'notice')).toMatchObject({
      text: 'The turn reports success, but 1 tool call was denied: Bash',
    });
    expect(turnEnds).toMatchObject([{ message: 'All done.', backgroundTasks: 0 }]);
    expect(turnEnds[0]?.messageId).toMatch(/^[0-9a-f-]{36}$/);
    expect(readable).toContain('● I will write it.');
  });

  it('with an API that stays overloaded ends with that error', () => {
    const { events, turnEnds } = replay(version, 'api-error');
    expect(turnEnds).toMatchObject([{ error: { kind: 'overloaded' } }]);
    expect(turnEnds[0]?.error?.text).toContain('529');
    expect(events.map((event) => event.type)).toContain('notice');
    expect(events.find((event) => event.type === 'retrying')).toMatchObject({
      kind: 'overloaded',
      source: 'exact',
    });
  });

  it('with a usage limit ends with that and its reset time', () => {
    const { turnEnds, types } = replay(version, 'usage-limit');
    const error = turnEnds[0]?.error;
    expect(error?.kind).toBe('usage-limit');
    expect(error?.text).toMatch(/^You've hit your (session|5-hour) limit · resets /);
    expect(error?.resetsAtMs).toBeTypeOf('number');
    expect(types).not.toContain('said');
  });

  it.each([
    { name: 'login-expired', kind: 'not-logged-in' },
    { name: 'context-full', kind: 'context-full' },
    { name: 'unreachable', kind: 'network' },
  ])('of $name ends with $kind, and no time', ({ name, kind }) => {
    const { turnEnds, events, readable } = replay(version, name);
    expect(turnEnds).toMatchObject([{ error: { kind } }]);
    const text = turnEnds[0]?.error?.text ?? 'no error';
    expect(readable.filter((line) => line.includes(text))).toEqual([`✗ ${text}`]);
    expect(turnEnds[0]?.error).not.toHaveProperty('resetsAtMs');
    for (const event of events) if (event.type === 'retrying') expect(event.kind).toBe(kind);
  });

  it('that was interrupted withdraws the request, ends the turn without an error, and goes on', () => {
    const { types, turnEnds } = replay(version, 'interrupted');
    expect(types).toContain('request-gone');
    expect(turnEnds[0]).toMatchObject({ interrupted: true });
    expect(turnEnds[0]).not.toHaveProperty('error');
    expect(turnEnds[1]).not.toHaveProperty('interrupted');
  });
});

describe('StreamTranslator', () => {
  const asked = (id: string) =>
    JSON.stringify({
      type: 'control_request',
      request_id: id,
      request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'make' }, tool_use_id: id },
    });

  it('has the folder of its call, and returns a pending permission once', () => {
    const { translator, accept, events } = translatorOf();
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 'a', cwd: '/p/sub' };
    const input = { session_id: '00000000-0000-4000-8000-000000000000', ...call };
    const request = { subtype: 'hook_callback', input };
    accept(JSON.stringify({ type: 'control_request', request_id: 'h', request }));
    accept(asked('a'));
    expect(events).toMatchObject([{ type: 'request', request: { folder: '/p/sub' } }]);
    expect(translator.takePermission('a', 'allow')).toMatchObject({ input: { command: 'make' } });
    expect(translator.takePermission('a', 'allow')).toBeUndefined();
  });

  describe('whose call has an error as its result', () => {
    const REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    const rejected = [{ id: 'toolu_1', non_execution_kind: 'user-rejected' }];
    const ended = (verdict: 'allow' | 'deny' | undefined, text: string, meta?: readonly object[]) => {
      const { translator, accept, events } = translatorOf();
      const block = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'make' } };
      accept(JSON.stringify({ type: 'assistant', message: { id: 'm', content: [block] } }));
      if (verdict !== undefined) {
        const request = {
          subtype: 'can_use_tool',
          tool_name: 'Bash',
          input: block.input,
          tool_use_id: 'toolu_1',
        };
        accept(JSON.stringify({ type: 'control_request', request_id: 'a', request }));
        translator.takePermission('a', verdict);
      }
      const result = { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: text };
      accept(JSON.stringify({ type: 'user', message: { content: [result] }, tool_result_meta: meta }));
      return events.find((event) => event.type === 'tool-finished');
    };

    it('was interrupted if it was allowed', () => {
      expect(ended('allow', REJECTED, rejected)).toMatchObject({
        command: { exitCode: null, note: 'interrupted' },
      });
    });

    it('was perhaps interrupted before it began if nobody was asked', () => {
      expect(ended(undefined, REJECTED, rejected)).toMatchObject({
        command: { note: 'interrupted, perhaps before it began' },
      });
    });

    it('did not run if a rule denied it, whatever the words', () => {
      const meta = [{ id: 'toolu_1', non_execution_kind: 'permission-rule' }];
      const end = ended(undefined, 'Exit code 1\n5 passed', meta);
      expect(end).toMatchObject({ ok: false, denied: 'rule', error: 'denied by a rule' });
      expect(end).not.toHaveProperty('command');
      // Claude Code says the same of a call that an answer denied.
      expect(ended('deny', 'no', meta)).toMatchObject({ ok: false, denied: 'session' });
    });
  });

  it('passes on an unknown request, to be refused', () => {
    const { accept, refused } = translatorOf();
    accept('{"type":"control_request","request_id":"x","request":{"subtype":"elicitation"}}');
    expect(refused).toEqual(['x']);
  });

  it('counts background tasks as the streams of both versions report them', () => {
    const { accept, events } = translatorOf();
    const result = '{"type":"result","subtype":"success","is_error":false,"result":"ok"}';
    accept('{"type":"system","subtype":"task_started","task_id":"t1"}');
    accept(result);
    accept(
      '{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1"},{"task_id":"t2"}]}',
    );
    accept(result);
    accept('{"type":"system","subtype":"task_notification","task_id":"t1"}');
    accept('{"type":"system","subtype":"background_tasks_changed","tasks":[]}');
    accept(result);
    expect(events.map((event) => event.type === 'turn-ended' && event.backgroundTasks)).toEqual([1, 2, 0]);
  });
});
