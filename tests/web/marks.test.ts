import { expect, test } from 'vitest';
import type { TimelineEvent } from '../../src/board/state.js';
import { marksOf, momentWords, shownAt } from '../../web/replay/marks.js';
import type { ReelFacts } from '../../web/replay/reel.js';

const BEGAN_MS = 1_700_000_000_000;
const facts: ReelFacts = {
  began_ms: BEGAN_MS,
  first_ms: 1_000,
  ready_ms: 9_000,
  is_ready: true,
  is_cut: false,
  error: null,
};

const event = (seq: number, ms: number, fields: object): TimelineEvent => ({
  seq,
  at: new Date(BEGAN_MS + ms).toISOString(),
  type: '',
  ...fields,
});
const color = { tool: 'AskUserQuestion', summary: 'Which color?' };
const events = [
  event(1, -500, { type: 'tool-started', tool: 'Read', summary: 'Read(a)' }),
  event(2, -400, { type: 'tool-finished', tool: 'Read', ok: true }),
  event(3, 500, { type: 'said', text: 'I ask.' }),
  event(4, 5_000, { type: 'decision-asked', ...color }),
  event(5, 20_000, { type: 'decision-closed', ...color, verdict: 'allow', answered_by: 'board/chrome-1' }),
];

test('decisions and tools of the timeline stand in order, and what is outside of the recording at its edges', () => {
  expect(marksOf(events, facts).map(({ atMs, kind, words }) => [atMs, kind, words])).toEqual([
    [1_000, 'tool', '✓ Read(a)'],
    [5_000, 'asked', '? Which color?'],
    [9_000, 'decided', '✓ allowed: Which color?, by board/chrome-1'],
  ]);
});

test('while it is being read, only what can be shown is there', () => {
  expect(marksOf(events, { ...facts, is_ready: false }).map(({ kind }) => kind)).toEqual(['tool', 'asked']);
});

test('a decision is shown with its dialog, and before its answer', () => {
  const [, asked, decided] = marksOf(events, facts);
  if (asked === undefined || decided === undefined) throw new Error('no marks');
  expect(shownAt(asked, [asked, decided])).toBe(6_500);
  expect(shownAt(asked, [asked, { ...decided, atMs: 5_200 }])).toBe(5_199);
  expect(shownAt(decided, [asked, decided])).toBe(9_000);
});

test('a moment is written short', () => {
  expect([0, 5_999, 754_000, 3_723_000].map(momentWords)).toEqual(['0:00', '0:05', '12:34', '1:02:03']);
});
