import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { delegatedIdInput } from './delegate-fields.js';

const DEFAULT_TAIL = 100;
const MAX_TAIL = 1_000;

export const taskLogs = defineTool({
  name: 'TaskLogs',
  title: 'Logs of a delegated task',
  toolset: 'delegate',
  effect: 'read',
  description: 'Retrieve execution logs from a delegated task, stdout and stderr.',
  input: {
    taskId: delegatedIdInput.describe('Task ID to get logs for'),
    tail: z.int().min(1).max(MAX_TAIL).default(DEFAULT_TAIL).describe('Number of recent lines to return'),
  },
  output: { lines: z.array(z.string()), totalBytes: z.int() },
  handle: async ({ taskId, tail }, { delegation }) => (await delegation()).logs(taskId, tail),
});
