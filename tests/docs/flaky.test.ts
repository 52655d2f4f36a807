import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const DAY_MS = 86_400_000;
const MONTH_DAYS = 31;

interface Row {
  readonly atMs: number;
  /** `tests/….test.ts > title`. */
  readonly test: string;
  readonly cause: string;
}

const rows: readonly Row[] = readFileSync(join(root, 'tests', 'flaky.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const [, date = '', name = '', cause = ''] = line.split('|').map((cell) => cell.trim());
    return { atMs: Date.parse(date), test: name.replaceAll('`', ''), cause };
  });

test('each flaky test has a date and a cause, and is named by its file', () => {
  const wrong = rows.filter(
    ({ atMs, test: name, cause }) =>
      Number.isNaN(atMs) || cause === '' || !/^tests\/.+\.test\.ts > ./.test(name),
  );
  expect(wrong).toEqual([]);
});

test('a test that was flaky twice within a month is in the long form', () => {
  const twice = rows.filter(({ test: name, atMs }) =>
    rows.some(
      (other) => other.test === name && other.atMs < atMs && atMs - other.atMs <= MONTH_DAYS * DAY_MS,
    ),
  );
  const inGate = twice.map(({ test: name }) => name).filter((name) => isInGate(name.split(' > ')[0] ?? ''));
  expect(inGate).toEqual([]);
});

/** Whether the file is still there, and is one of the gate. */
function isInGate(file: string): boolean {
  return existsSync(join(root, file)) && !file.startsWith('tests/long/');
}
