import { defineResource, taskIdOf, watchTask } from './define-resource.js';

export const taskRecord = defineResource({
  name: 'tasks',
  title: 'A task',
  description: 'All that is known of a task: record, decisions, files, times',
  mimeType: 'application/json',
  uri: 'tasks://{task_id}',
  read: async (variable, { tasks }) => {
    // The mark is the secret by which processes are found; the other three mean something to the bridge alone.
    const {
      process_mark: _mark,
      keeper: _keeper,
      agent: _agent,
      socket_path: _socket,
      ...shown
    } = await tasks.get(taskIdOf(variable));
    return JSON.stringify(shown, undefined, 2);
  },
  complete: (prefix, { tasks }) => tasks.taskIds(prefix),
  watch: watchTask,
});
