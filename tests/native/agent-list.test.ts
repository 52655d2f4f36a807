import { expect, test } from 'vitest';
import { AgentList, parseAgents } from '../../src/native/agent-list.js';
import { ManualClock } from '../harness/manual-clock.js';

const sessionId = '11111111-1111-4111-8111-111111111111';
const idle = { pid: 7, cwd: '/app', kind: 'interactive', startedAt: 1_000, sessionId, status: 'idle' };

test('has the entries of a known form, with what else they say', () => {
  const entries = [
    idle,
    { ...idle, sessionId: 'no uuid' },
    'words',
    { ...idle, pid: undefined, later: true },
  ];
  expect(parseAgents(JSON.stringify(entries))).toEqual([
    idle,
    { cwd: '/app', kind: 'interactive', startedAt: 1_000, sessionId, status: 'idle', later: true },
  ]);
});

test.each([1e20, -1, 1.5, 4e12 + 1])('an entry that began at %d is left out alone', (startedAt) => {
  expect(parseAgents(JSON.stringify([{ ...idle, startedAt }, idle]))).toEqual([idle]);
});

test('its words are short and on one line', () => {
  const bad = 'one\ntwo\u001b[31m\u202e' + 'x'.repeat(200);
  const [session] = parseAgents(
    JSON.stringify([{ ...idle, name: bad, kind: bad, state: bad, status: bad, waitingFor: bad }]),
  );
  for (const text of [session?.name, session?.kind, session?.state, session?.status, session?.waitingFor]) {
    expect(text).toMatch(/^one ⏎ two\\u001b\[31m\\u202ex+…$/);
    expect(text).toHaveLength(80);
  }
});

test('sessions with a process come before the others, whose number is limited', () => {
  const ended = { ...idle, pid: undefined };
  const entries = [...Array.from({ length: 300 }, () => ended), idle];
  const sessions = parseAgents(JSON.stringify(entries));
  expect(sessions).toHaveLength(200);
  expect(sessions[0]).toEqual(idle);
});

/** A list whose listings are answered by the test. */
function asked() {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const answers: { give: (output: string) => void; fail: (error: Error) => void }[] = [];
  const list = new AgentList({
    clock,
    onError: (error) => errors.push(error),
    print: () => new Promise((give, fail) => answers.push({ give, fail })),
  });
  return { clock, list, errors, answers };
}

const listOf = (...sessions: unknown[]) => JSON.stringify(sessions);
const busy = { ...idle, status: 'busy' };
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a list of two seconds is answered at once and renewed for the next reader', async () => {
  const { clock, list, answers } = asked();
  const first = list.read();
  answers[0]?.give(listOf(idle));
  expect(await first).toEqual([idle]);
  clock.advance(1_999);
  expect(await list.read()).toEqual([idle]);
  expect(answers).toHaveLength(1);
  clock.advance(1);
  expect(await list.read()).toEqual([idle]);
  expect(await list.read()).toEqual([idle]);
  expect(answers).toHaveLength(2);
  answers[1]?.give(listOf(busy));
  await settled();
  expect(await list.read()).toEqual([busy]);
});

test('readers without a list wait two seconds from the start of a slow listing, which goes on, or with patience until its end', async () => {
  const { clock, list, answers } = asked();
  const first = list.read();
  clock.advance(1_500);
  const second = list.read();
  const patient = list.read('whole');
  clock.advance(500);
  expect(await first).toEqual([]);
  expect(await second).toEqual([]);
  expect(await list.read()).toEqual([]);
  expect(answers).toHaveLength(1);
  answers[0]?.give(listOf(idle));
  await settled();
  expect(await patient).toEqual([idle]);
  expect(await list.read()).toEqual([idle]);
  expect(clock.timerCount).toBe(0);
});

test('after a failure the last list is used for 30 seconds, and the next try comes after 10', async () => {
  const { clock, list, answers } = asked();
  const first = list.read();
  answers[0]?.give(listOf(idle));
  await first;
  clock.advance(2_000);
  await list.read();
  answers[1]?.fail(new Error('no list'));
  await settled();
  clock.advance(9_999);
  expect(await list.read()).toEqual([idle]);
  expect(answers).toHaveLength(2);
  clock.advance(1);
  expect(await list.read()).toEqual([idle]);
  answers[2]?.fail(new Error('no list'));
  await settled();
  clock.advance(18_000);
  const late = list.read();
  answers[3]?.fail(new Error('no list'));
  expect(await late).toEqual([]);
});

test('an error is reported once until it differs or the list is there', async () => {
  const { clock, list, errors, answers } = asked();
  for (const output of ['no JSON', 'no JSON', '{"a":1}', listOf(idle), 'no JSON']) {
    const read = list.read();
    answers.at(-1)?.give(output);
    await read;
    await settled();
    clock.advance(10_000);
  }
  expect(answers).toHaveLength(5);
  expect(errors).toHaveLength(3);
});
