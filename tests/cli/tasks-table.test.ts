import { describe, expect, it } from 'vitest';
import { taskTable } from '../../src/cli/tasks-table.js';
import { WAITS_FOR_MESSAGE } from '../../src/tasks/task.js';
import { piped } from './looks.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { sampleRecord, sampleWorktree } from '../tasks/sample-task.js';

const homeDir = '/home/ann';
const records = [
  sampleRecord({
    project_path: '/home/ann/Projects/shop-math',
    prompt_summary: 'node test.js fails. Find out why, fix it, and run the test to prove it.',
    activity: 'Bash(node test.js)',
  }),
  sampleRecord({
    project_path: '/srv/a/very/deep/folder/that/goes/on/and/on/until/the/end/of/the/line/website',
    prompt_summary: '修正所有測試,並且說明原因,然後再檢查一次所有的檔案,並且說明原因',
    status: 'completed',
    reason: 'The agent finished its work.',
  }),
];

const worktree = sampleWorktree('/home/ann/Projects/shop-math');

function table(columns?: number, some = records): string[] {
  return taskTable(some, { nowMs: Date.parse('2026-01-01T00:05:00Z'), homeDir, look: { ...piped, columns } })
    .trimEnd()
    .split('\n');
}

/** As a terminal counts them. */
function cells(line: string): number {
  return [...line].reduce((sum, char) => sum + (char >= '\u2e80' ? 2 : 1), 0);
}

describe('the table of tasks', () => {
  it.each([80, 100, 120, 200])('fits a terminal of %i columns, and shows the prompts', (columns) => {
    const lines = table(columns);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^TASK +STATUS +AGE +PROJECT +PROMPT/);
    expect(lines[1]).toContain('node test.js');
    expect(lines[1]).toMatch(/^ef0123 /);
    expect(lines[2]).toContain('修正');
    expect(lines[2]).toContain('website');
  });

  it('names the machine of a task elsewhere, whose home folder is not this one, and what is known of its line', () => {
    const [here] = records;
    const line = 'unverifiable since 14:02 (No route to host); as of 14:01';
    const far = { ...sampleRecord({ ...here }), task_id: `gpu/${here?.task_id ?? ''}`, line };
    const [, row] = table(undefined, [far]);
    expect(row).toMatch(/^gpu\/ef0123 /);
    expect(row).toContain('  /home/ann/Projects/shop-math  ');
    expect(row).toContain(line);
  });

  it('writes the home folder as ~, and without a terminal cuts no row to a width', () => {
    const [, first, second] = table();
    expect(first).toContain('  ~/Projects/shop-math  ');
    expect(first).toContain('node test.js fails. Find out why, fix it, and run the test');
    expect(first).toContain('Bash(node test.js)');
    expect(second).toContain('The agent finished its work.');
  });

  it('says how the work of a task was finished, or that it was undone', () => {
    const finished = { action: 'merge', at: '2026-01-01T00:04:00Z', result: '' } as const;
    const merged = sampleRecord({ status: 'completed', worktree: { ...worktree, finished } });
    expect(table(undefined, [merged])[1]).toContain('merged: ');
    const undone = sampleRecord({ status: 'completed', undone_at: '2026-01-01T00:04:00Z' });
    expect(table(undefined, [undone])[1]).toContain('undone: ');
  });

  it.each([10, 20, 40, 48, 55, 60, 64])('is never wider than a terminal of %i columns', (columns) => {
    const asks = sampleRecord({ status: 'waiting', decisions: [sampleDecision()] });
    for (const line of table(columns, [...records, asks])) expect(cells(line)).toBeLessThanOrEqual(columns);
    if (columns >= 60) expect(table(columns)[0]).toContain('PROMPT');
  });

  it('says what a task waits for, and not what it was doing', () => {
    const decisions = [sampleDecision()];
    const reason = 'Waits for an answer to: Bash(npm test)';
    const asks = sampleRecord({ status: 'waiting', decisions, reason, activity: 'Working' });
    expect(table(undefined, [asks])[1]).toMatch(/ Waits for an answer to: Bash\(npm test\)$/);
    const idle = { reason: `The turn is over; ${WAITS_FOR_MESSAGE}`, activity: 'Waits for its person' };
    expect(table(undefined, [sampleRecord({ status: 'waiting', ...idle })])[1]).toMatch(
      / Waits for its person$/,
    );
  });

  it('has first what waits, and names a worktree by its project, also in a narrow terminal', () => {
    const asks = sampleRecord({
      status: 'waiting',
      decisions: [sampleDecision()],
      project_path: worktree.path,
      worktree,
    });
    expect(table(60, [...records, asks])[1]).toMatch(/^ef0123 +waiting +5m +1 +shop-math +\S/);
    expect(table(undefined, [asks])[1]).toContain('  ~/Projects/shop-math  ');
  });

  it('says that there are no tasks', () => {
    expect(table(80, [])).toEqual(['No tasks.']);
  });
});
