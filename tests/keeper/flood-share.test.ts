import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FLOOD_NICE, FloodShare, type ShareOutcome } from '../../src/keeper/flood-share.js';
import { ManualClock } from '../harness/manual-clock.js';

const SECOND_MS = 1_000;
const FLOOD_BYTES = 600_000;
const SHARES = '/proc/self/autogroup';

/** None in the session that the machine began with: the kernel tells such a one nothing. */
function sharesHere(): number[] {
  const nice = existsSync(SHARES) ? /nice (-?\d+)/.exec(readFileSync(SHARES, 'latin1'))?.[1] : undefined;
  return nice === undefined ? [] : [Number(nice)];
}

function open({ nice = 0, outcomes = [] }: { nice?: number | undefined; outcomes?: ShareOutcome[] } = {}) {
  const clock = new ManualClock();
  const asked: number[] = [];
  const write = (wanted: number): ShareOutcome => {
    asked.push(wanted);
    return outcomes.shift() ?? 'done';
  };
  return { clock, asked, share: new FloodShare({ clock, read: () => nice, write }) };
}

describe('the share of the processor that a keeper takes', () => {
  it('is as it was for what is printed in small', () => {
    const { clock, asked, share } = open();
    for (let second = 0; second < 60; second++) {
      share.printed(100_000);
      clock.advance(SECOND_MS);
    }
    expect(asked).toEqual([]);
  });

  it('is lower from the moment of a flood, and as it was when five seconds held none', () => {
    const { clock, asked, share } = open({ nice: 2 });
    share.printed(FLOOD_BYTES / 2);
    expect(asked).toEqual([]);
    share.printed(FLOOD_BYTES / 2);
    expect(asked).toEqual([2 + FLOOD_NICE]);
    for (let second = 0; second < 10; second++) {
      share.printed(FLOOD_BYTES);
      clock.advance(SECOND_MS);
    }
    clock.advance(4 * SECOND_MS);
    expect(asked).toEqual([2 + FLOOD_NICE]);
    clock.advance(SECOND_MS);
    expect(asked).toEqual([2 + FLOOD_NICE, 2]);
    expect(clock.timerCount).toBe(0);
    share.printed(FLOOD_BYTES);
    expect(asked).toEqual([2 + FLOOD_NICE, 2, 2 + FLOOD_NICE]);
  });

  it('is asked for again while the kernel is busy, and not where it takes none', () => {
    const { clock, asked, share } = open({ outcomes: ['busy', 'busy', 'unable'] });
    share.printed(FLOOD_BYTES);
    clock.advance(3 * SECOND_MS);
    expect(asked).toEqual([FLOOD_NICE, FLOOD_NICE, FLOOD_NICE]);
  });

  it('is left alone where sessions have none', () => {
    const clock = new ManualClock();
    const write = () => {
      throw new Error('nothing is asked for');
    };
    new FloodShare({ clock, read: () => undefined, write }).printed(FLOOD_BYTES);
    expect(clock.timerCount).toBe(0);
  });

  it('leaves no timer when it is disposed of in a flood', () => {
    const { clock, share } = open();
    share.printed(FLOOD_BYTES);
    share.dispose();
    expect(clock.timerCount).toBe(0);
  });

  it('is read off this kernel as it is, where it has any', () => {
    const asked: number[] = [];
    const write = (nice: number): ShareOutcome => {
      asked.push(nice);
      return 'done';
    };
    const clock = new ManualClock();
    const share = new FloodShare({ clock, write });
    share.printed(FLOOD_BYTES);
    share.dispose();
    expect(asked).toEqual(sharesHere().map((nice) => nice + FLOOD_NICE));
  });
});
