import { expect, test } from 'vitest';
import { editorMessageSchema, editorRequestSchema, MAX_OUTPUT_CHARS } from '../../src/editor/protocol.js';

function isRequest(message: unknown): boolean {
  return editorRequestSchema.safeParse(message).success;
}

test('the messages of the first description of the extension are requests', () => {
  expect(isRequest({ type: 'ping', id: '1' })).toBe(true);
  expect(isRequest({ type: 'create_terminal', id: 't' })).toBe(true);
  expect(isRequest({ type: 'execute', id: '2', command: 'ls' })).toBe(true);
  expect(isRequest({ type: 'execute', id: '2', command: 'ls', terminalId: 't' })).toBe(true);
  expect(isRequest({ type: 'close_terminal', id: '3', terminalId: 't' })).toBe(true);
});

test('a request needs an id, and one that can be shown', () => {
  expect(isRequest({ type: 'ping' })).toBe(false);
  expect(isRequest({ type: 'ping', id: '' })).toBe(false);
  expect(isRequest({ type: 'ping', id: 'a\u001b[2J' })).toBe(false);
  expect(isRequest({ type: 'ping', id: 'a\u202eb' })).toBe(false);
});

test('a command holds lines and tabs, and no other keys', () => {
  const withCommand = (command: string) => isRequest({ type: 'execute', id: '1', command });
  expect(withCommand('cat <<X\n\ta\n\nX')).toBe(true);
  for (const key of ['\u0003', '\u0004', '\r', '\u001b', '\u007f', '\u009b'])
    expect(withCommand(`echo ${key}`)).toBe(false);
});

test('a long command is checked', () => {
  expect(isRequest({ type: 'execute', id: '1', command: `${'a\t'.repeat(49_000)}\u0003` })).toBe(false);
});

test('the longest output fits into a message, whatever it holds', () => {
  const message = {
    type: 'success',
    id: '1',
    exitCode: 0,
    output: '\u0001'.repeat(MAX_OUTPUT_CHARS),
    from: 0,
    cursor: MAX_OUTPUT_CHARS,
  };
  expect(editorMessageSchema.safeParse(message).success).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(1024 * 1024);
});
