import { expect, test } from 'vitest';
import { receiptParts } from '../../web/views/receipt-parts.js';

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

test('what a person wants to know of a task comes first, in words, and files are those that git saw', () => {
  expect(receiptParts(receipt)).toEqual([
    { title: 'Changed files, by git (3)', lines: ['changed a.ts +2 −1', 'and 2 more'] },
    { title: 'Commits (1)', lines: ['01234567 First'] },
    { title: 'Commands (2)', lines: ['✗ npm test: exit code 1', '– make: interrupted'] },
    { title: 'Decisions (1)', lines: ['denied by board/chrome-1: Bash(rm x): no'] },
  ]);
});

test('without git the files are those that tools named', () => {
  const files = [{ path: 'b.ts', change: 'created' }];
  expect(receiptParts({ git: { state: 'none', why: 'no repository' }, files, files_total: 1 })).toEqual([
    { title: 'Changed files (1)', lines: ['created b.ts'] },
  ]);
});
