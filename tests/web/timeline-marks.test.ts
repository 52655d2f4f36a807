import { expect, test } from 'vitest';
import type { ReplayState } from '../../src/board/replay/replay-state.js';
import type { ReelFacts } from '../../web/replay/reel.js';
import { timelineMarks } from '../../web/replay/timeline-marks.js';
import { momentWords, spokenMoment } from '../../web/replay/times.js';

const BEGAN_MS = 1_700_000_000_000;
const facts: ReelFacts = {
  began_ms: BEGAN_MS,
  first_ms: 1_000,
  ready_ms: 9_000,
  is_ready: true,
  is_cut: false,
  pauses: [],
  error: null,
};
const state: Pick<ReplayState, 'marks' | 'commits'> = {
  marks: [
    { seq: 1, at_ms: BEGAN_MS - 500, kind: 'tool', words: 'before' },
    { seq: 2, at_ms: BEGAN_MS + 5_000, kind: 'decision', words: 'asked' },
    { seq: 3, at_ms: BEGAN_MS + 20_000, kind: 'answer', words: 'after' },
  ],
  commits: [{ commit: 'a'.repeat(40), at_ms: BEGAN_MS + 4_000, subject: 'Fix it' }],
};

test('marks and commits stand in order, and what is outside of the recording at its edges', () => {
  expect(timelineMarks(state, facts).map(({ atMs, words }) => [atMs, words])).toEqual([
    [1_000, 'before'],
    [4_000, 'Fix it'],
    [5_000, 'asked'],
    [9_000, 'after'],
  ]);
});

test('while it is being read, only what can be shown stands there', () => {
  expect(timelineMarks(state, { ...facts, is_ready: false }).map(({ words }) => words)).toEqual([
    'before',
    'Fix it',
    'asked',
  ]);
});

test('a moment is written short, and said whole', () => {
  expect([0, 5_999, 754_000, 3_723_000].map(momentWords)).toEqual(['0:00', '0:05', '12:34', '1:02:03']);
  expect([0, 65_000, 3_601_000].map(spokenMoment)).toEqual([
    '0 seconds',
    '1 minute 5 seconds',
    '1 hour 1 second',
  ]);
});
