import { expect, test } from 'vitest';
import { taskIdOf } from '../../vscode/src/tasks/task-part.js';
import { TASK_ID } from '../tools/fake-task-service.js';

test('commands of tasks take the id of a task, and nothing else that an extension or a link gives them', () => {
  const given = [TASK_ID, '../x', `${TASK_ID}/../x`, '', { task_id: TASK_ID }, [TASK_ID], undefined];
  expect(given.map(taskIdOf)).toEqual([TASK_ID, ...given.slice(1).map(() => undefined)]);
});
