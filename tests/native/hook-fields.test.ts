import { expect, test } from 'vitest';
import { hookEventOf } from '../../src/native/hook-fields.js';

const session = '11111111-1111-4111-8111-111111111111';

test('a request has its input as an object', () => {
  const fields = {
    event: 'PermissionRequest',
    session,
    cwd: '/app',
    tool: 'Bash',
    tool_input: '{"command":"ls"}',
    prompt: '',
  };
  expect(hookEventOf(fields)).toEqual({
    hook_event_name: 'PermissionRequest',
    session_id: session,
    cwd: '/app',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
  });
});

test('the end of a turn says whether a hook has continued it', () => {
  const stop = { event: 'Stop', session, message: 'Done.' };
  expect(hookEventOf({ ...stop, active: 'false' })).toMatchObject({ stop_hook_active: false });
  expect(hookEventOf({ ...stop, active: 'true' })).toMatchObject({ stop_hook_active: true });
  expect(hookEventOf({ ...stop, active: '' })).not.toHaveProperty('stop_hook_active');
});

test('what an event does not have is left out', () => {
  expect(hookEventOf({ event: 'Stop', session, message: '', tool_input: '' })).toEqual({
    hook_event_name: 'Stop',
    session_id: session,
    background_tasks: [],
  });
});

test.each([
  { event: 'PermissionRequest', session, tool: 'Bash', tool_input: '"a text"' },
  { event: 'Stop', session: 'no uuid' },
  {},
])('%j is no event', (fields) => {
  const event = hookEventOf(fields);
  expect(event === undefined || event.hook_event_name === 'other').toBe(true);
});

test('is nothing when its input is no JSON: it could be allowed without being seen', () => {
  const fields = {
    event: 'PermissionRequest',
    session: '11111111-1111-4111-8111-111111111111',
    tool: 'Bash',
  };
  expect(hookEventOf({ ...fields, tool_input: '{"command":"rm' })).toBeUndefined();
  expect(hookEventOf({ ...fields, tool_input: '{"command":"rm"}' })).toBeDefined();
});
