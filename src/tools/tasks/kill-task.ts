import { z } from 'zod';
import { worktreeWords } from '../../tasks/polling-hint.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { taskIdInput, taskOutput, taskView } from './task-fields.js';

const MAX_REASON_CHARS = 500;
const BY_TOOL = 'Terminated by kill_task';

export const killTask = defineTool({
  name: 'kill_task',
  title: 'Kill a task',
  toolset: 'tasks',
  effect: 'destroy',
  searchHint: 'stop, cancel or abort a delegated task',
  description: 'End a running task and all it started.',
  input: { task_id: taskIdInput, reason: z.string().max(MAX_REASON_CHARS).optional() },
  output: { ...taskOutput, message: z.string() },
  handle: async ({ task_id, reason }, services) => {
    const tasks = await services.tasks();
    const record = await tasks.kill(
      knownTaskId(task_id),
      reason === undefined || reason.trim() === '' ? `${BY_TOOL}.` : `${BY_TOOL}: ${reason}`,
    );
    const message =
      record.status === 'killed'
        ? 'Task terminated successfully.'
        : // The first cause wins: the task had already ended when the kill came.
          `Task had already ended as ${record.status}: ${record.reason}`;
    return { ...taskView(record), message: `${message}${worktreeWords(record)}` };
  },
});
