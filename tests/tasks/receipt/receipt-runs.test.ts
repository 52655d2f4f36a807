import { describe, expect, it } from 'vitest';
import { UNFINISHED } from '../../../src/claude/transcript-facts.js';
import { CommandRuns } from '../../../src/tasks/receipt/receipt-runs.js';

type Row = readonly [
  line: string,
  exitCode: number,
  output: string,
  tests: Readonly<Record<string, unknown>>,
];

const rows: readonly Row[] = [
  ['vitest run', 0, 'No test files found, exiting with code 0\n', { verdict: 'unknown' }],
  ['vitest run', 0, '      Tests  0 passed (0)\n', { verdict: 'unknown', passed: 0, failed: 0 }],
  ['vitest run | tail -5', 0, '      Tests  3 passed (3)\n', { verdict: 'passed', passed: 3, failed: 0 }],
  [
    'vitest run || true',
    0,
    '      Tests  1 failed | 2 passed (3)\n',
    { verdict: 'failed', passed: 2, failed: 1 },
  ],
  ['vitest run', 1, '', { verdict: 'failed' }],
];

describe('a test run in the background', () => {
  it.each(rows)('%s (exit %s) is judged by what it printed: %j', (line, exitCode, output, tests) => {
    for (const known of [null, exitCode]) {
      const runs = new CommandRuns();
      runs.ran(line, { exitCode: known, output: '' });
      runs.ran('npm test', { exitCode: 0, output: '' });
      runs.ended(line, { exitCode, output });
      const expected = { runner: 'vitest', ...tests };
      expect(runs.result()).toMatchObject({
        commands: [{ command: line, exit_code: exitCode, tests: expected }, { command: 'npm test' }],
        commands_total: 2,
        commands_failed: exitCode === 0 ? 0 : 1,
      });
      expect(runs.result().tests).toEqual([
        { command: line, ...expected },
        { command: 'npm test', runner: 'npm test', verdict: 'passed' },
      ]);
    }
  });

  it('that the end of the session cut off tells nothing of its tests', () => {
    const runs = new CommandRuns();
    runs.ran('vitest run', UNFINISHED);
    runs.ended('vitest run', { ...UNFINISHED, output: '      Tests  3 passed (3)\n' });
    expect(runs.result()).toMatchObject({ commands: [{ output: 'Tests  3 passed (3)' }], tests: [] });
  });
});
