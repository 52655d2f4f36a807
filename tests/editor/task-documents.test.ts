import { expect, test } from 'vitest';
import { documentOf, uriOf } from '../../vscode/src/tasks/changes/changed-file.js';
import { TASK_ID } from '../tools/fake-task-service.js';

test.each([
  { taskId: TASK_ID, side: 'new', name: 'src/a.js' },
  { taskId: TASK_ID, side: 'old', name: 'old name.js' },
  { taskId: TASK_ID, side: 'new', name: 'a?b#c%41&side=old#?%25+ü\u202e.js' },
] as const)('$name is found again by its URI', (document) => {
  expect(documentOf(uriOf(document, 1))).toEqual(document);
  expect(documentOf(uriOf(document, 1, '/home/ann/app/'))).toEqual(document);
});

test('the path of a URI is the name on that side, which the editor knows the language by', () => {
  const document = { taskId: TASK_ID, side: 'old', name: 'src/a.js' } as const;
  expect(uriOf(document, 1)).toMatchObject({ scheme: 'claude-task', path: '/src/a.js' });
  expect(uriOf(document, 1, '/app/').path).toBe('/app/src/a.js');
});

test('a new side has another URI whenever it is opened: the editor may have an earlier text of it', () => {
  const sides = (['old', 'new'] as const).map((side) => ({ taskId: TASK_ID, side, name: 'a.js' }));
  const isSame = sides.map((document) => uriOf(document, 1).query === uriOf(document, 2).query);
  expect(isSame).toEqual([true, false]);
});

const good = uriOf({ taskId: TASK_ID, side: 'old', name: 'a.js' }, 1);

test.each([
  { ...good, scheme: 'file' },
  { ...good, query: good.query.replace('name=a.js', 'name=') },
  { ...good, query: '' },
  { ...good, query: good.query.replace('side=old', 'side=both') },
  { ...good, query: good.query.replace(TASK_ID, '../board') },
])('a URI that is not of a task is none: %j', (uri) => {
  expect(documentOf(uri)).toBeUndefined();
});
