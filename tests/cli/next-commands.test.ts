import { expect, test } from 'vitest';
import { sampleReceipt, sampleRecord, sampleWorktree } from '../tasks/sample-task.js';
import type { Receipt } from '../../src/tasks/receipt/receipt.js';
import { interruptedWords, taskDetails } from '../../src/cli/tasks-text.js';
import { nextWords } from '../../src/base/errors.js';
import { byCommand, nextLines } from '../../src/cli/next-commands.js';
import { fittedLines } from '../../src/cli/terminal-text.js';
import { piped } from './looks.js';

test('what to do next is said with the commands that do it', () => {
  const next = [{ do: 'wait', task: 'task_1' }, { do: 'end', task: 'task_1' }, 'Then try again.'] as const;
  expect(nextWords(next, byCommand('bridge'))).toBe(
    'Wait for it (`bridge tasks follow task_1`), or end it (`bridge tasks kill task_1`). Then try again.',
  );
  expect(nextWords(next)).toBe('Wait for it, or end it. Then try again.');
  expect(nextLines(next, 'bridge', { ...piped, columns: 60 })).toBe(
    'Wait for it: bridge tasks follow task_1\nEnd it: bridge tasks kill task_1\nThen try again.',
  );
});

test('sentences fit a narrow terminal, and commands behind two blanks stay whole', () => {
  const text = 'The first line is a sentence.\n  bridge tasks follow d93a7d\n\nThe end.';
  expect(fittedLines(text, { ...piped, columns: 20 })).toBe(
    'The first line is a\nsentence.\n  bridge tasks follow d93a7d\n\nThe end.',
  );
});

test('a command is never broken: in a narrow terminal it has a line of its own', () => {
  const look = { ...piped, columns: 60 };
  const record = sampleRecord({ status: 'running' });
  const command = 'node /home/ann/claude-code-bridge/dist/main.js';
  const options = { nowMs: 0, homeDir: '/home/bob', command, look };
  const id = record.task_id.slice(-6);
  expect(taskDetails(record, options)).toContain(`\nfollow\n  ${command} tasks follow ${id}\n`);
  expect(interruptedWords(record, options)).toMatch(
    new RegExp(`instead:\n  ${command} tasks message ${id} "Use pnpm\\."\n$`),
  );
});

test('a task in the queue is shown as queued, with the commands that it takes', () => {
  const record = sampleRecord({ status: 'pending', socket_path: '' });
  const shown = taskDetails(record, { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped });
  const id = record.task_id.slice(-6);
  expect(shown).toContain(`\nfollow  bridge tasks follow ${id}\nend     bridge tasks kill ${id}\n`);
  expect(shown).not.toMatch(/attach|tasks message|started/);
  expect(shown).toMatch(/^queued +2/m);
});

test('a session that never had an answer, as of a wrong login, is not offered to go on', () => {
  const options = { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped };
  const failed = { status: 'failed', session_id: 'one' } as const;
  expect(taskDetails(sampleRecord({ ...failed, tokens: 0 }), options)).not.toContain('Go on.');
  expect(taskDetails(sampleRecord({ ...failed, tokens: 5 }), options)).toContain('Go on.');
});

test.each([
  [{ cost_usd: 0.0026, tokens: 160 }, '0.0026'],
  [{}, '0.0026'],
])('the cost of a task with %j is shown once, as one figure', (used, usd) => {
  const record = sampleRecord({ status: 'completed', ...used });
  const receipt = sampleReceipt({ usage: { source: 'result', models: [], cost_usd: 0.0026 } });
  const options = { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped, receipt };
  const shown = taskDetails(record, options);
  expect(shown).toContain(`$${usd}`);
  expect(shown.match(/\$\d|USD/g)).toHaveLength(1);
});

test('a task that was ended at its budget says how to go on, and with which limits', () => {
  const record = sampleRecord({ status: 'killed', ended_by_budget: 'task', session_id: 's' });
  const shown = taskDetails(record, { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped });
  expect(shown).toContain(`\ncontinue  bridge run --continue ${record.task_id.slice(-6)} "Go on."\n`);
  expect(shown).toMatch(/go on .*--max-cost and --max-tokens, up to what the setting task_budget/);
});

test('a task that was ended at the budget of the day says when it can go on, and offers no command that is refused now', () => {
  const record = sampleRecord({ status: 'killed', ended_by_budget: 'day', session_id: 's' });
  const shown = taskDetails(record, { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped });
  expect(shown).toMatch(/^go on .*Possible tomorrow, or once the setting day_budget is raised/m);
  expect(shown).not.toMatch(/^continue /m);
});

test('a task whose end was not seen ran at least up to its last sign of life', () => {
  const more = { started_at: '2026-01-01T00:00:00.000Z', elapsed_seconds: 6 };
  const options = { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped };
  const seen = taskDetails(sampleRecord({ ...more, status: 'completed' }), options);
  expect(seen).toMatch(/, ran 6s$/m);
  const died = sampleRecord({ ...more, status: 'error', status_source: 'observed' });
  expect(taskDetails(died, options)).toMatch(/, ran at least 6s$/m);
});

test('an interrupt says that a message which waited goes in, and asks for none', () => {
  const record = sampleRecord({ status: 'running' });
  expect(interruptedWords(record, { command: 'bridge', look: piped })).toContain(
    'To say what it does instead: bridge tasks message ',
  );
  const messages = [{ text: 'Use pnpm.', state: 'waiting' as const }];
  const words = interruptedWords({ ...record, messages }, { command: 'bridge', look: piped });
  expect(words).toMatch(/It gets 1 message that waited\. To see the answer: bridge tasks follow \w+\n$/);
});

test('a task whose folder is gone says so, and offers nothing that needs it', () => {
  const options = { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped, isGone: true };
  const record = sampleRecord({ status: 'completed', session_id: 's' });
  const shared = taskDetails(record, options);
  expect(shared).toContain(`The folder ${record.project_path} is no longer there.`);
  expect(shared).not.toMatch(/^(continue|diff|undo) /m);
  const worktree = sampleWorktree('/p', 'w');
  const own = taskDetails({ ...record, worktree }, options);
  expect(own).toContain('what was committed is on the branch claude/w');
  expect(own).toMatch(/^discard +bridge tasks finish \w+ discard$/m);
  expect(own).not.toMatch(/^(continue|diff|merge|apply) /m);
  const finished = { action: 'discard', at: '2026-01-01T00:00:00Z', result: 'refs/kept' } as const;
  expect(taskDetails({ ...record, worktree: { ...worktree, finished } }, options)).toMatch(
    /^finished +.*: Discarded\. Its commits remain as refs\/kept/m,
  );
});

test('a tree that another machine names is quoted where a shell would read more in it', () => {
  const git: Receipt['git'] = {
    ...{ state: 'repository', repository: '/p', tree: 'x;id\nid', start_tree: 'y' },
    ...{
      files: [],
      files_total: 1,
      insertions: 0,
      deletions: 0,
      dirty_before: { count: 0, untouched: [], changed: [], committed: [] },
      uncommitted: 0,
      commits: [],
      commits_total: 0,
      ignored: [],
      notes: [],
    },
    ...{ branch_before: null, branch_after: null, head_before: null, head_after: null },
  };
  const record = sampleRecord({ task_id: 'gpu/task_00000000000000000001', status: 'completed' });
  const options = { nowMs: 0, homeDir: '/home/ann', command: 'bridge', look: piped };
  const shown = taskDetails(record, { ...options, receipt: sampleReceipt({ git }) });
  expect(shown).toContain(" undo --reviewed 'x;id ⏎ id'\n");
});
