import { defineTool } from '../define-tool.js';
import { delegatedIdInput, delegatedOutput, delegatedView } from './delegate-fields.js';

export const taskStatus = defineTool({
  name: 'TaskStatus',
  title: 'Status of a delegated task',
  toolset: 'delegate',
  effect: 'read',
  description: 'Get status of a delegated task.',
  input: { taskId: delegatedIdInput.optional().describe('Task ID to check (omit for current task)') },
  output: delegatedOutput,
  handle: async ({ taskId }, { delegation }) => delegatedView(await (await delegation()).task(taskId)),
});
