import { expect, test } from 'vitest';
import { emptyBoard, type DiffFile } from '../../src/board/state.js';
import { cardOf } from '../../src/board/task-views.js';
import { fileChoices, noTextWords, titleOf } from '../../vscode/src/tasks/changes/changed-file.js';
import { taskChoices, taskIdOf } from '../../vscode/src/tasks/task-choices.js';
import { OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const file: DiffFile = {
  path: 'src/a\u202e.js',
  change: 'changed',
  is_binary: false,
  insertions: 2,
  deletions: 1,
  hunks: '',
  is_cut: false,
};

test('each file is listed with what happened to it, with unseen characters as escapes and without icons of its own', () => {
  const files: DiffFile[] = [
    file,
    { ...file, path: 'b.js', change: 'renamed', old_path: 'a\u200b.js' },
    { ...file, path: '$(check) logo.png', change: 'created', is_binary: true },
  ];
  expect(fileChoices(files).map(({ label, description }) => [label, description])).toEqual([
    ['src/a\\u202e.js', '+2 −1'],
    ['b.js', 'renamed from a\\u200b.js, +2 −1'],
    ['$ (check) logo.png', 'created, binary'],
  ]);
  expect(titleOf(file)).toBe('a\\u202e.js (Claude task: before ↔ now)');
  expect(noTextWords('a\u202e.js', 'too_large')).toBe(
    'There is no text to compare: a\\u202e.js has more than 2 MB.',
  );
});

test('tasks that named files come first, then the newest, and none that has not begun or is of another machine', () => {
  const card = { ...cardOf(taskRecord({ prompt_summary: 'Fix\u202e it' })), files_changed: 2 };
  const newer = { ...card, task_id: OTHER_ID, files_changed: 0, created_at: '2026-04-01T10:00:00.000Z' };
  const waiting = { ...card, task_id: 'task_00000000000000000009', started_at: null };
  const far = { ...card, task_id: `gpu/${TASK_ID}` };
  const tasks = { [OTHER_ID]: newer, [TASK_ID]: card, [waiting.task_id]: waiting, [far.task_id]: far };
  expect(taskChoices({ ...emptyBoard, tasks }, 'started')).toMatchObject([
    { label: 'Fix\\u202e it', description: 'app · running, 2 files', value: TASK_ID },
    { label: 'Fix\\u202e it', description: 'app · running', value: OTHER_ID },
  ]);
  const ended = { ...tasks, [TASK_ID]: { ...card, is_final: true } };
  const running = taskChoices({ ...emptyBoard, tasks: ended }, 'running').map(({ value }) => value);
  // A terminal of that one can be opened: `attach` reaches it.
  expect(running.toSorted()).toEqual([OTHER_ID, waiting.task_id, far.task_id].toSorted());
});

test('commands of tasks take the id of a task, and nothing else that an extension or a link gives them', () => {
  const given = [TASK_ID, '../x', `${TASK_ID}/../x`, '', { task_id: TASK_ID }, [TASK_ID], undefined];
  expect(given.map(taskIdOf)).toEqual([TASK_ID, ...given.slice(1).map(() => undefined)]);
  expect([`gpu/${TASK_ID}`, `../${TASK_ID}`, `GPU/${TASK_ID}`, 'gpu/x'].map(taskIdOf)).toEqual([
    `gpu/${TASK_ID}`,
    ...[undefined, undefined, undefined],
  ]);
});
