import { describe, expect, test } from 'vitest';
import type { KnownHookEvent } from '../../src/claude/hooks/hook-event.js';
import type { SessionEvent } from '../../src/claude/session.js';
import { NativeDriver } from '../../src/native/native-driver.js';
import { ManualClock } from '../harness/manual-clock.js';

const session_id = '11111111-1111-4111-8111-111111111111';
const never = new AbortController().signal;
const input = { command: 'touch a' };
const request: KnownHookEvent = {
  session_id,
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: input,
};
const used: KnownHookEvent = {
  session_id,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { ...input, description: 'added' },
};
const allow = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } };

function session({ isHeard = true } = {}) {
  const clock = new ManualClock();
  let status: 'waiting' | 'other' | undefined;
  const driver = new NativeDriver({
    clock,
    taskId: 'task_0123456789abcdef0123',
    sessionId: session_id,
    project: '/app',
    pid: undefined,
    status: { read: () => Promise.resolve(status) },
    isHeard: () => Promise.resolve(isHeard),
  });
  const events: SessionEvent[] = [];
  driver.onEvent((event) => events.push(event));
  const of = <Type extends SessionEvent['type']>(type: Type) => events.filter((event) => event.type === type);
  /** A request that has arrived, and what its hook answers. */
  const asks = async (signal = never) => {
    const answer = driver.hook(request, signal);
    await Promise.resolve();
    await Promise.resolve();
    return { answer };
  };
  const looks = async (now: typeof status, times = 1) => {
    status = now;
    for (let look = 0; look < times; look++) {
      clock.advance(300);
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { driver, clock, of, asks, looks };
}

describe('a request', () => {
  test('waits for an answer, which becomes that of its hook', async () => {
    const { driver, of, asks } = session();
    const { answer } = await asks();
    expect(of('request')).toMatchObject([{ request: { summary: 'Bash(touch a)', kind: 'permission' } }]);
    expect(await driver.answer('native-1', { verdict: 'allow' })).toBe('answered');
    expect(await answer).toEqual(allow);
    expect(await driver.answer('native-1', { verdict: 'deny', message: 'no' })).toBe('gone');
  });

  test('that is left to the person is shown as a dialog until it is answered', async () => {
    const { driver, of, asks } = session({ isHeard: false });
    const { answer } = await asks();
    expect(await driver.isHeard()).toBe(false);
    driver.leave('native-1');
    expect(await answer).toEqual({});
    expect(await driver.answer('native-1', { verdict: 'allow' })).toBe('gone');
    expect(of('dialog').at(-1)).toEqual({ type: 'dialog', text: 'Waits for an answer to: Bash(touch a)' });
    await driver.hook(used, never);
    expect(of('dialog').at(-1)).toEqual({ type: 'dialog', text: null });
  });

  test('is over when its tool was used: it was allowed in the terminal', async () => {
    const { driver, of, asks } = session();
    const { answer } = await asks();
    await driver.hook(used, never);
    expect(await answer).toEqual({});
    const gone = { requestId: 'native-1', why: 'allowed in the terminal', by: 'terminal' };
    expect(of('request-gone')).toMatchObject([gone]);
  });

  test('is over when Claude Code waits no longer for the hook: it was refused in the terminal', async () => {
    const { clock, of, asks } = session();
    const cancelled = new AbortController();
    const { answer } = await asks(cancelled.signal);
    cancelled.abort();
    clock.advance(50);
    expect(await answer).toEqual({});
    expect(of('request-gone')).toMatchObject([
      { why: 'refused or interrupted in the terminal', by: 'terminal' },
    ]);
  });

  test('that is cancelled as the session ends was not answered', async () => {
    const { driver, clock, of, asks } = session();
    const cancelled = new AbortController();
    const { answer } = await asks(cancelled.signal);
    cancelled.abort();
    await driver.close();
    clock.advance(50);
    expect(await answer).toEqual({});
    expect(of('request-gone')).toEqual([]);
    expect(of('exited')).toEqual([{ type: 'exited', exit: { code: 0 } }]);
  });

  test('is over when the session has waited and went on, seen twice', async () => {
    const { of, asks, looks } = session();
    const { answer } = await asks();
    await looks('other', 3);
    await looks('waiting');
    await looks('other');
    await looks('waiting');
    expect(of('request-gone')).toEqual([]);
    await looks('other', 2);
    expect(await answer).toEqual({});
    expect(of('request-gone')).toMatchObject([{ why: 'answered in the terminal' }]);
  });

  test('is looked at before it is answered', async () => {
    const { driver, of, asks, looks } = session();
    await asks();
    await looks('waiting');
    await driver.look();
    expect(of('request-gone')).toEqual([]);
    await looks('other');
    await driver.look();
    expect(of('request-gone')).toHaveLength(1);
    expect(await driver.answer('native-1', { verdict: 'deny', message: 'no' })).toBe('gone');
  });
});

test('a denial that came after a yes in the terminal is reported', async () => {
  const { driver, of, asks } = session();
  await asks();
  await driver.answer('native-1', { verdict: 'deny', message: 'no' });
  await driver.hook(used, never);
  expect(of('notice')).toEqual([
    { type: 'notice', text: 'Bash(touch a) was allowed in the terminal before it was denied' },
  ]);
});

test('a failed turn ends the turn and not the session', async () => {
  const { driver, of } = session();
  await driver.hook({ session_id, hook_event_name: 'StopFailure', error: 'overloaded' }, never);
  expect(of('notice')).toEqual([{ type: 'notice', text: 'The turn failed: overloaded' }]);
  expect(of('turn-ended')).toHaveLength(1);
  expect(of('exited')).toEqual([]);
});

test('after its end every hook is answered at once', async () => {
  const { driver, of } = session();
  await driver.kill();
  expect(await driver.hook(request, never)).toEqual({});
  expect(of('request')).toEqual([]);
});

test('the same request, allowed once and denied once, was not allowed in the terminal', async () => {
  const { driver, of, asks } = session();
  const [first, second] = [await asks(), await asks()];
  await driver.answer('native-1', { verdict: 'allow' });
  await driver.answer('native-2', { verdict: 'deny', message: 'once is enough' });
  expect(await first.answer).toEqual(allow);
  expect(await second.answer).not.toEqual(allow);
  await driver.hook(used, never);
  expect(of('notice')).toEqual([]);
  await driver.hook(used, never);
  expect(of('notice')).toMatchObject([
    { text: 'Bash(touch a) was allowed in the terminal before it was denied' },
  ]);
});

test('a request without an input is not answered by the use of its tool with one', async () => {
  const { driver, of } = session();
  void driver.hook({ ...request, tool_input: {} }, never);
  await Promise.resolve();
  await driver.hook(used, never);
  expect(of('request-gone')).toEqual([]);
  await driver.close();
});
