import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { askIdInput, askOutput, askView } from './ask-fields.js';

export const askCancel = defineTool({
  name: 'ask_cancel',
  title: 'Cancel a question',
  toolset: 'conversation',
  effect: 'destroy',
  description: 'Cancel a question that has no answer yet.',
  input: { taskId: askIdInput },
  output: askOutput,
  handle: async ({ taskId }, { conversations }) =>
    askView(await (await conversations()).cancel(knownTaskId(taskId), 'Cancelled by ask_cancel.')),
});
