import { expect, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { KnownHookEvent } from '../../src/claude/hooks/hook-event.js';
import { NativeRequests } from '../../src/native/native-requests.js';
import { ReadableLog } from '../../src/tasks/run/task-story.js';
import { TaskStory } from '../../src/tasks/run/task-story.js';
import { ManualClock } from '../harness/manual-clock.js';
import { until } from '../harness/until.js';

const session_id = '11111111-1111-4111-8111-111111111111';
const never = new AbortController().signal;
const input = { command: 'touch a' };
const request = {
  session_id,
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: input,
} as const satisfies KnownHookEvent;
const used = {
  session_id,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { ...input, description: 'added' },
} as const satisfies KnownHookEvent;
const allow = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } };
const allows = { decision_id: 'dec_1', verdict: 'allow', by: 'caller' } as const;
const DENIED_TOO_LATE = 'Bash(touch a) was allowed in the terminal before it was denied';

function session() {
  const clock = new ManualClock();
  let status: 'waiting' | 'other' | undefined;
  let log = '';
  const story = new TaskStory(
    { append: () => 1 },
    new ReadableLog({ write: (more) => (log += more) }, clock),
  );
  const requests = new NativeRequests(
    {
      clock,
      logger: silentLogger,
      story,
      waitSeconds: 590,
      status: { read: () => Promise.resolve(status) },
      realPath: (path) => Promise.resolve(path),
    },
    '/app',
    () => undefined,
  );
  const settled = async () => {
    for (let step = 0; step < 10; step++) await Promise.resolve();
  };
  return {
    requests,
    clock,
    settled,
    log: () => log,
    /** A request that has arrived, and what its hook answers. */
    asks: async (signal = never) => {
      const answer = requests.ask(request, signal);
      await settled();
      return { answer };
    },
    looks: async (now: typeof status, times = 1) => {
      status = now;
      for (let look = 0; look < times; look++) {
        clock.advance(300);
        await settled();
      }
    },
  };
}

test('an answer becomes that of the hook, and one alone', async () => {
  const { requests, asks } = session();
  const { answer } = await asks();
  expect(requests.waitsFor).toBe('Waits for an answer to: Bash(touch a)');
  await requests.respond(allows);
  expect(await answer).toEqual(allow);
  expect(requests.waitsFor).toBeUndefined();
  await expect(requests.respond(allows)).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
});

test('what was allowed for the session is not asked again', async () => {
  const { requests, clock } = session();
  const asked = { ...request, cwd: '/app' };
  const first = requests.ask(asked, never);
  await until('it is asked', () => requests.waitsFor);
  await requests.respond({ ...allows, verdict: 'allow_session' });
  await first;
  expect(await requests.ask(asked, never)).toEqual(allow);
  requests.dispose();
  expect(clock.timerCount).toBe(0);
});

test('one without an answer is left to the person, until its tool was used', async () => {
  const { requests, clock, asks } = session();
  const { answer } = await asks();
  clock.advance(590_000);
  expect(await answer).toEqual({});
  expect(requests.recorded.decisions).toMatchObject([{ verdict: 'withdrawn', answered_by: 'deadline' }]);
  expect(requests.waitsFor).toMatch(/Bash\(touch a\)\. It is answered in the terminal/);
  requests.used(used);
  expect(requests.waitsFor).toBeUndefined();
});

test('one whose tool was used was allowed in the terminal', async () => {
  const { requests, asks } = session();
  const { answer } = await asks();
  requests.used(used);
  expect(await answer).toEqual({});
  const closed = { verdict: 'withdrawn', answered_by: 'terminal', reason: 'allowed in the terminal' };
  expect(requests.recorded.decisions).toMatchObject([closed]);
});

test('one for which Claude Code waits no longer was refused in the terminal, unless the session ends', async () => {
  for (const ends of [false, true]) {
    const { requests, clock, asks } = session();
    const cancelled = new AbortController();
    const { answer } = await asks(cancelled.signal);
    cancelled.abort();
    if (ends) requests.withdrawAll();
    clock.advance(50);
    expect(await answer).toEqual({});
    const reason = ends ? 'the task ended' : 'refused or interrupted in the terminal';
    expect(requests.recorded.decisions).toMatchObject([{ verdict: 'withdrawn', reason }]);
  }
});

test('one is over when the session has waited and went on, seen twice', async () => {
  const { requests, asks, looks } = session();
  const { answer } = await asks();
  await looks('other', 3);
  await looks('waiting');
  await looks('other');
  await looks('waiting');
  expect(requests.waitsFor).toBeDefined();
  await looks('other', 2);
  expect(await answer).toEqual({});
  expect(requests.recorded.decisions).toMatchObject([{ reason: 'answered in the terminal' }]);
});

test('a denial that came after a yes in the terminal is reported, unless the same was allowed once', async () => {
  const { requests, asks, log } = session();
  const [first, second] = [await asks(), await asks()];
  await requests.respond(allows);
  await requests.respond({ decision_id: 'dec_2', verdict: 'deny', message: 'once is enough', by: 'caller' });
  expect(await first.answer).toEqual(allow);
  expect(await second.answer).not.toEqual(allow);
  requests.used(used);
  expect(log()).not.toContain(DENIED_TOO_LATE);
  requests.used(used);
  expect(log()).toContain(DENIED_TOO_LATE);
});
