import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { onPage } from '../../src/board/page-words.js';
import { cardOf } from '../../src/board/task-views.js';
import { taskRecord } from '../tools/fake-task-service.js';

it.each([
  [
    'Add credit or raise the limit of the account, then go on with start_task and continue_from this task.',
    'Add credit or raise the limit of the account, then go on with the box on its page.',
  ],
  ['Ready for a message (message_task)', 'Ready for a message'],
  [
    'Wait for it with wait_for_task, or end it with kill_task, then call again.',
    'Wait for it, or end it, then try again.',
  ],
  ['Call respond_to_task again with verdict "allow".', 'Try again with verdict "allow".'],
])('%s', (words, onThePage) => {
  expect(onPage(words)).toBe(onThePage);
});

it('what to do after trouble names no tool', () => {
  const source = readFileSync(new URL('../../src/claude/trouble/trouble-words.ts', import.meta.url), 'utf8');
  const next = [...source.matchAll(/next: '(.*)',/g)].map(([, words = '']) => onPage(words));
  expect(next.length).toBeGreaterThan(5);
  for (const words of next) expect(words).not.toMatch(/\w_task|continue_from/);
});

it('only files of the project count as changed', () => {
  const files_changed = [
    '/home/ann/app/a.ts',
    '/home/ann/application/b.ts',
    '/home/ann/.claude/plans/kind-pearl.md',
  ];
  expect(cardOf(taskRecord({ files_changed })).files_changed).toBe(1);
});
