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

test('is asked for at most every two seconds', async () => {
  const clock = new ManualClock();
  let asked = 0;
  const list = new AgentList({
    clock,
    onError: () => undefined,
    print: () => {
      asked++;
      return Promise.resolve(JSON.stringify([idle]));
    },
  });
  await list.read();
  clock.advance(1_999);
  expect(await list.read()).toEqual([idle]);
  expect(asked).toBe(1);
  clock.advance(1);
  await list.read();
  expect(asked).toBe(2);
});

test('is empty without an answer, and each error is reported once', async () => {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const answers = ['no JSON', 'no JSON', '{"a":1}', JSON.stringify([idle]), 'no JSON'];
  const list = new AgentList({
    clock,
    onError: (error) => errors.push(error),
    print: () => Promise.resolve(answers.shift() ?? ''),
  });
  const counts: number[] = [];
  for (const _answer of [...answers]) {
    counts.push((await list.read()).length);
    clock.advance(2_000);
  }
  expect(counts).toEqual([0, 0, 0, 1, 0]);
  expect(errors).toHaveLength(3);
});
