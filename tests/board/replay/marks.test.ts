import { expect, test } from 'vitest';
import { boundedMarks, JournalMarks, MAX_MARKS } from '../../../src/board/replay/marks.js';
import type { ReplayMark } from '../../../src/board/replay/replay-state.js';

const BEGAN = Date.parse('2026-03-01T10:00:00.000Z');
let seq = 0;
const event = (type: string, seconds: number, fields: Readonly<Record<string, unknown>> = {}) => ({
  seq: ++seq,
  at: new Date(BEGAN + seconds * 1000).toISOString(),
  type,
  ...fields,
});

test('what was asked, how it was answered, tools and their failures stand on the timeline', () => {
  const marks = new JournalMarks();
  const found = marks.marksOf([
    event('turn-started', 0),
    event('tool-started', 1, { tool: 'Bash', summary: 'Bash(npm test)' }),
    event('decision-asked', 2, { decision_id: 'dec_1', summary: 'Bash(npm test)' }),
    event('tool-finished', 9, { tool: 'Bash', ok: false }),
    event('tool-finished', 9, { tool: 'Bash', ok: true }),
  ]);
  const answered = marks.marksOf([
    event('decision-closed', 60, {
      decision_id: 'dec_1',
      summary: 'Bash(npm test)',
      verdict: 'deny',
      answered_by: 'board/chrome-1',
    }),
  ]);
  expect([...found, ...answered].map(({ at_ms, kind, words }) => [at_ms - BEGAN, kind, words])).toEqual([
    [1_000, 'tool', 'Bash(npm test)'],
    [2_000, 'decision', 'Bash(npm test)'],
    [9_000, 'failed', 'Bash failed'],
    [60_000, 'answer', 'Denied by board/chrome-1: Bash(npm test)'],
  ]);
});

test('an answer that allowed something else says what', () => {
  const edits = [{ field: 'command', asked: 'npm test', allowed: 'npm run lint' }];
  const summary = 'Bash(npm test)';
  const events = [
    event('decision-asked', 1, { decision_id: 'dec_1', summary }),
    event('decision-closed', 2, { decision_id: 'dec_1', summary, verdict: 'allow', edits }),
  ];
  expect(new JournalMarks().marksOf(events)[1]?.words).toBe(
    'Allowed as edited: npm run lint (asked: Bash(npm test))',
  );
});

test('a request that a rule answered is no decision', () => {
  const closed = event('decision-closed', 1, { decision_id: 'dec_1', verdict: 'allow', answered_by: 'rule' });
  expect(new JournalMarks().marksOf([closed])).toEqual([]);
});

test('of too many marks the oldest tools are left out, and decisions stay', () => {
  const mark = (number: number, kind: ReplayMark['kind']): ReplayMark => ({
    seq: number,
    at_ms: number,
    kind,
    words: '',
  });
  const many = Array.from({ length: MAX_MARKS + 50 }, (_, at) => mark(at, at === 3 ? 'decision' : 'tool'));
  const marks = boundedMarks(many);
  expect(marks).toHaveLength(MAX_MARKS);
  expect(marks[0]).toMatchObject({ kind: 'decision', seq: 3 });
  expect(marks.at(-1)).toMatchObject({ seq: MAX_MARKS + 49 });
});
