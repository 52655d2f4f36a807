import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CUT_PAUSE_MS, cutTime, momentAt, type Pause } from '../../../src/board/replay/cut-time.js';

const pauses: readonly Pause[] = [
  [1_000, 5_000],
  [6_000, 66_000],
];

test('a pause takes half a second, and all else the time that it took', () => {
  expect(cutTime(pauses, 1_000)).toBe(1_000);
  expect(cutTime(pauses, 5_000)).toBe(1_000 + CUT_PAUSE_MS);
  expect(cutTime(pauses, 5_700)).toBe(1_700 + CUT_PAUSE_MS);
  expect(cutTime(pauses, 66_000)).toBe(2_000 + 2 * CUT_PAUSE_MS);
  expect(cutTime([], 66_000)).toBe(66_000);
});

test('each moment is shown once, in order, with any pauses', () => {
  const anyPauses = fc
    .array(fc.tuple(fc.nat(10_000), fc.integer({ min: 2_001, max: 1_000_000 })), { maxLength: 20 })
    .map((gaps) => {
      let ms = 0;
      return gaps.map(([before, length]): Pause => [(ms += before), (ms += length)]);
    });
  fc.assert(
    fc.property(anyPauses, fc.nat(2_000_000), fc.nat(100_000), (all, ms, more) => {
      expect(momentAt(all, cutTime(all, ms))).toBeCloseTo(ms, 3);
      expect(cutTime(all, ms + more)).toBeGreaterThanOrEqual(cutTime(all, ms) - 1e-6);
    }),
  );
});
