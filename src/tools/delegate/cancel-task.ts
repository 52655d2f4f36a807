import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { delegatedIdInput, delegatedOutput, delegatedView } from './delegate-fields.js';

const MAX_REASON_CHARS = 200;

export const cancelTask = defineTool({
  name: 'CancelTask',
  title: 'Cancel a delegated task',
  toolset: 'delegate',
  effect: 'destroy',
  description: 'Cancel a running delegated task.',
  input: {
    taskId: delegatedIdInput.describe('Task ID to cancel'),
    reason: z.string().max(MAX_REASON_CHARS).optional().describe('Optional reason for cancellation'),
  },
  output: delegatedOutput,
  handle: async ({ taskId, reason }, { delegation }) =>
    delegatedView(await (await delegation()).cancel(taskId, reason)),
});
