import { describe, expect, it } from 'vitest';
import { planHistory, type HistoryBounds, type StoredTask } from '../../../src/tasks/history/history-plan.js';

const DAY_MS = 86_400_000;
const NOW_MS = 1_000 * DAY_MS;
const wide: HistoryBounds = { count: { task: 100, ask: 100, native: 100 }, days: 90, bytes: 1_000_000 };

/** Ended `days` ago; ten bytes of record, 20 of logs and 70 of recording. */
function ended(id: string, days: number, more: Partial<StoredTask> = {}): StoredTask {
  const bytes = { recording: 70, logs: 20, task: 10 };
  return { id, kind: 'task', endedMs: NOW_MS - days * DAY_MS, bytes, ...more };
}

function plan(tasks: readonly StoredTask[], bounds: Partial<HistoryBounds>): string[] {
  return planHistory(tasks, { ...wide, ...bounds }, NOW_MS).map(
    ({ id, part, why }) => `${id} ${part} by ${why}`,
  );
}

describe('the history', () => {
  const three = [ended('new', 1), ended('middle', 2), ended('old', 3)];

  it('keeps all within its bounds', () => {
    expect(plan(three, {})).toEqual([]);
  });

  it('counts each kind of task separately, and the oldest go', () => {
    const ask = ended('ask', 2, { kind: 'ask' });
    expect(plan([...three, ask], { count: { task: 2, ask: 1, native: 1 } })).toEqual(['old task by number']);
  });

  it('drops what ended before its days', () => {
    expect(plan([...three, ended('last year', 91)], {})).toEqual(['last year task by age']);
  });

  it('over its size loses the oldest recordings first, then logs, and receipts at last', () => {
    expect(plan(three, { bytes: 200 })).toEqual(['old recording by size', 'middle recording by size']);
    expect(plan(three, { bytes: 65 })).toEqual([
      'old recording by size',
      'middle recording by size',
      'new recording by size',
      'old logs by size',
      'middle logs by size',
    ]);
    expect(plan(three, { bytes: 20 }).slice(-2)).toEqual(['new logs by size', 'old task by size']);
  });

  it('does not count what goes by number or age towards the size', () => {
    expect(plan([...three, ended('last year', 91)], { bytes: 300 })).toEqual(['last year task by age']);
  });
});
