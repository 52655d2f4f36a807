import { beforeEach, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/claude/session.js';
import { ResumableDriver } from '../../../src/claude/trouble/resumable-driver.js';
import { FakeDriver } from '../../tasks/fake-driver.js';

let first: FakeDriver;
let second: FakeDriver;
let driver: ResumableDriver;
let events: SessionEvent[];
let reopened: string[];

beforeEach(async () => {
  first = new FakeDriver();
  second = new FakeDriver();
  events = [];
  reopened = [];
  driver = new ResumableDriver(first, async (sessionId, text) => {
    reopened.push(`${sessionId}: ${text}`);
    return second;
  });
  driver.onEvent((event) => events.push(event));
  await driver.start();
  first.fire({ type: 'session', sessionId: 's-1' });
});

it('the usage of a session is the sum over its programs', async () => {
  const used = (output: number, costUsd: number | null) => ({
    usage: { models: { m: { input: 10, output, cacheRead: 1, cacheWrite: 2 } }, costUsd },
  });
  driver.keepSession(true);
  first.endTurn('', used(5, 0.25));
  first.endTurn('', used(7, 0.5));
  first.exit({ code: 0 });
  await driver.send('Go on.');
  second.endTurn('', used(1, 0.125));
  second.endTurn('Done.', used(3, 0.25));
  expect(events.flatMap((event) => (event.type === 'turn-ended' ? event.usage : []))).toMatchObject([
    { models: { m: { output: 5 } }, costUsd: 0.25 },
    { models: { m: { output: 7 } }, costUsd: 0.5 },
    { models: { m: { output: 8 } }, costUsd: 0.625 },
    { models: { m: { input: 20, output: 10, cacheRead: 2, cacheWrite: 4 } }, costUsd: 0.75 },
  ]);
});

it('no program is started once the session has been ended, also while it is being resumed', async () => {
  for (const end of ['kill', 'close', 'dispose'] as const) {
    let found: (driver: FakeDriver) => void = () => undefined;
    const next = new FakeDriver();
    const lost = new FakeDriver();
    const resumed = new ResumableDriver(lost, () => new Promise((resolve) => (found = resolve)));
    lost.fire({ type: 'session', sessionId: 's-1' });
    resumed.keepSession(true);
    lost.exit({ code: 3 });
    const sent = resumed.send('Go on.');
    await resumed[end]();
    found(next);
    await expect(sent).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
    expect(next.told).toEqual([]);
  }
});

it('a program that starts while the session is ended is killed', async () => {
  driver.keepSession(true);
  first.exit({ code: 3 });
  const start = second.start.bind(second);
  second.start = async () => {
    await driver.kill();
    await start();
  };
  await driver.send('Go on.');
  expect(second.told).toEqual(['kill', 'start', 'kill']);
});
