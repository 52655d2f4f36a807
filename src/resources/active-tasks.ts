import { defineResource, watchTasks } from './define-resource.js';

export const activeTasks = defineResource({
  name: 'active-tasks',
  title: 'Active tasks',
  description: 'List of currently active tasks',
  mimeType: 'application/json',
  uri: 'tasks://active',
  read: async (_variable, { tasks }) => {
    const { tasks: active } = await (await tasks()).list({ status: 'active' });
    const summaries = active.map((record) => ({
      id: record.task_id,
      status: record.status,
      projectPath: record.project_path,
      createdAt: record.created_at,
      elapsedSeconds: Math.floor(record.elapsed_seconds),
    }));
    return JSON.stringify({ tasks: summaries }, undefined, 2);
  },
  watch: (_variable, services, changed) => watchTasks('active', services, () => changed()),
});
