import { expect, test } from 'vitest';
import { documentOf, uriOf } from '../../vscode/src/tasks/changes/document-uri.js';
import { TASK_ID } from '../tools/fake-task-service.js';

test.each([
  { taskId: TASK_ID, file: 'src/a.js', side: 'new', name: 'src/a.js' },
  { taskId: TASK_ID, file: 'new name.js', side: 'old', name: 'old name.js' },
  { taskId: TASK_ID, file: 'a&side=old#?%25+ü\u202e.js', side: 'new', name: 'a?b#c%41.js' },
] as const)('$name is found again by its URI', (document) => {
  expect(documentOf(uriOf(document))).toEqual(document);
  expect(documentOf(uriOf(document, '/home/ann/app/'))).toEqual(document);
});

test('the path of a URI is the name on that side, which the editor knows the language by', () => {
  const document = { taskId: TASK_ID, file: 'b.ts', side: 'old', name: 'src/a.js' } as const;
  expect(uriOf(document)).toMatchObject({ scheme: 'claude-task', path: '/src/a.js' });
  expect(uriOf(document, '/app/').path).toBe('/app/src/a.js');
});

const good = uriOf({ taskId: TASK_ID, file: 'a.js', side: 'old', name: 'a.js' });

test.each([
  { ...good, scheme: 'file' },
  { ...good, query: good.query.replace('name=a.js', 'name=') },
  { ...good, query: '' },
  { ...good, query: good.query.replace('side=old', 'side=both') },
  { ...good, query: good.query.replace(TASK_ID, '../board') },
])('a URI that is not of a task is none: %j', (uri) => {
  expect(documentOf(uri)).toBeUndefined();
});
