import { checkTask, defineResource, taskIdOf, watchTask } from './define-resource.js';

export const taskRecord = defineResource({
  name: 'tasks',
  title: 'A task',
  description:
    'Everything known about a task: record, decisions, files, times, and its receipt once it has ended',
  mimeType: 'application/json',
  uri: 'tasks://{task_id}',
  read: async (variable, { tasks, receipts }) => {
    const record = await (await tasks()).get(taskIdOf(variable));
    // The mark is the secret by which processes are found; the other three mean something to the bridge alone.
    const { process_mark: _mark, keeper: _keeper, agent: _agent, socket_path: _socket, ...shown } = record;
    const receipt = await (await receipts()).receiptOf(record, new AbortController().signal);
    return JSON.stringify(receipt === undefined ? shown : { ...shown, receipt }, undefined, 2);
  },
  complete: async (prefix, { tasks }) => (await tasks()).taskIds(prefix),
  check: checkTask,
  watch: watchTask,
});
