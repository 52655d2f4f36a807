import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { EngineWatch } from '../../../../../src/processes/docker/engine/engine-watch.js';
import { ManualClock } from '../../../../harness/manual-clock.js';

const INTERVAL_MS = 10_000;

class Process {
  rechecks = 0;
  constructor(readonly containerId: string) {}
  recheck(): void {
    this.rechecks++;
  }
}

let clock: ManualClock;
/** What the engine answers; null for none. */
let running: readonly string[] | null;
let looks: number;
let sweeps: number;
let watch: EngineWatch;

beforeEach(() => {
  clock = new ManualClock();
  running = [];
  looks = 0;
  sweeps = 0;
  watch = new EngineWatch({
    clock,
    running: async () => {
      looks++;
      return running === null ? undefined : new Set(running);
    },
    sweep: async () => ++sweeps > 1,
  });
  onTestFinished(() => watch.dispose());
});

/** Lets a look happen, and all that follows from it. */
async function look(): Promise<void> {
  clock.advance(INTERVAL_MS);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe('the watch over an engine', () => {
  test('leaves processes alone that the engine names', async () => {
    const one = new Process('a');
    running = ['a', 'b'];
    watch.add(one);
    for (let count = 0; count < 5; count++) await look();
    expect({ looks, rechecks: one.rechecks }).toEqual({ looks: 5, rechecks: 0 });
  });

  test('has a process asked anew that the engine does not name twice in a row', async () => {
    const [one, other] = [new Process('a'), new Process('b')];
    running = ['b'];
    watch.add(one);
    watch.add(other);
    await look();
    expect(one.rechecks).toBe(0);
    await look();
    expect([one.rechecks, other.rechecks]).toEqual([1, 0]);
  });

  test('has all asked anew when the engine is silent twice', async () => {
    const one = new Process('a');
    running = null;
    watch.add(one);
    await look();
    expect(one.rechecks).toBe(0);
    await look();
    expect(one.rechecks).toBe(1);
  });

  test('takes one late answer for no loss', async () => {
    const one = new Process('a');
    watch.add(one);
    for (const answer of [null, ['a'], null, ['a']]) {
      running = answer;
      await look();
    }
    expect(one.rechecks).toBe(0);
  });

  test('looks only while there is something to look after', async () => {
    const one = new Process('a');
    watch.add(one);
    watch.remove(one);
    expect(clock.timerCount).toBe(0);
    await look();
    expect(looks).toBe(0);
  });

  test('sweeps when the engine is back, until it is clean', async () => {
    running = null;
    watch.sweepLater();
    await look();
    expect(sweeps).toBe(0);
    running = [];
    await look();
    await look();
    expect(sweeps).toBe(2);
    expect(clock.timerCount).toBe(0);
  });
});
