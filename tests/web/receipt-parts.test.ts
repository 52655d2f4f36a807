import { expect, test } from 'vitest';
import { receiptFacts } from '../../web/views/receipt-parts.js';

const receipt = {
  sensitive_files: [],
  files: [],
  files_total: 0,
  git: {
    state: 'repository',
    files: [{ path: 'a.ts', change: 'changed', insertions: 2, deletions: 1 }],
    files_total: 3,
    commits: [{ commit: '0123456789abcdef', subject: 'First' }],
    commits_total: 1,
    notes: [],
  },
  commands: [
    { command: 'npm test', exit_code: 1 },
    { command: 'make', exit_code: null, note: 'interrupted' },
  ],
  commands_total: 2,
  decisions: [
    { summary: 'Bash(ls)', verdict: 'allow', answered_by: 'rule', reason: 'it only reads' },
    { summary: 'Bash(rm x)', verdict: 'deny', answered_by: 'board/chrome-1', reason: 'no' },
  ],
  notes: [],
};

test('the sums of a task come first, and files are those that git saw', () => {
  const { sums, commands, lists } = receiptFacts(receipt);
  expect(sums.map((sum) => sum.join(' '))).toEqual([
    '3 files changed',
    '1 commit',
    '2 commands',
    '1 command failed',
    '1 decision',
  ]);
  expect(commands).toEqual([
    { command: 'npm test', how: 'exit code 1', isOk: false },
    { command: 'make', how: 'interrupted', isOk: undefined },
  ]);
  expect(lists).toEqual([
    ['Files, by git', [{ words: 'changed a.ts', added: 2, removed: 1 }, { words: 'and 2 more' }]],
    ['Commits', [{ words: '01234567 First' }]],
    ['Decisions', [{ words: 'denied by board/chrome-1: Bash(rm x): no' }]],
  ]);
});

test('without git the files are those that tools named', () => {
  const files = [{ path: 'b.ts', change: 'created' }];
  const { lists } = receiptFacts({ git: { state: 'none', why: 'no repository' }, files, files_total: 1 });
  expect(lists).toEqual([['Files, by its tools', [{ words: 'created b.ts' }]]]);
});
