import { expect, it } from 'vitest';
import { Emitter } from '../../src/base/event.js';
import { waitUntilSettled } from '../../scripts/wait-until-settled.js';
import { createSnapshot } from '../../src/screen/snapshot.js';
import { ManualClock } from '../harness/manual-clock.js';

function script() {
  const clock = new ManualClock();
  const frames = new Emitter<void>();
  let text = '';
  const snapshot = () =>
    createSnapshot({ columns: 80, rows: 1, lines: [text], cursor: { column: 0, row: 0 }, alternate: false });
  const show = (next: string) => {
    text = next;
    frames.fire();
  };
  return { clock, frames, show, screen: { onFrame: frames.event, snapshot } };
}

it('a screen that shows the same for long enough has settled, redraws or not', async () => {
  const { clock, show, screen, frames } = script();
  const outcome = waitUntilSettled({ screen, clock, quietMs: 100, limitMs: 1000 });
  clock.advance(90);
  show('new');
  clock.advance(90);
  show('new');
  clock.advance(10);
  expect(await outcome).toBe('settled');
  expect(clock.now()).toBe(190);
  expect(clock.timerCount).toBe(0);
  expect(frames.hasListeners).toBe(false);
});

it('a screen that never rests ends the wait at its limit', async () => {
  const { clock, show, screen } = script();
  const outcome = waitUntilSettled({ screen, clock, quietMs: 100, limitMs: 1000 });
  for (let frame = 0; frame < 25; frame++) {
    show(`frame ${frame}`);
    clock.advance(50);
  }
  expect(await outcome).toBe('limit');
  expect(clock.timerCount).toBe(0);
});

it('an abort ends the wait, before it or during it', async () => {
  const { clock, screen } = script();
  const abort = new AbortController();
  const outcome = waitUntilSettled({ screen, clock, quietMs: 100, limitMs: 1000, signal: abort.signal });
  abort.abort();
  expect(await outcome).toBe('aborted');
  expect(await waitUntilSettled({ screen, clock, quietMs: 1, limitMs: 1, signal: abort.signal })).toBe(
    'aborted',
  );
  expect(clock.timerCount).toBe(0);
});
