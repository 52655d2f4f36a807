import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { cursorOutput, cutHint, taskIdInput, taskOutput, taskView } from './task-fields.js';
import { thenWait, waitedOutput, waitSecondsInput } from './wait-for-task.js';

/** It is typed into the session; more belongs into a file that the message names. */
const MAX_TEXT_CHARS = 100_000;

export const messageTask = defineTool({
  name: 'message_task',
  title: 'Message a task',
  toolset: 'tasks',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'send a follow-up to a running agent',
  description: 'Send a follow-up message to a live session, or interrupt its turn, or both.',
  input: {
    task_id: taskIdInput,
    text: z.string().max(MAX_TEXT_CHARS).optional(),
    interrupt: z.boolean().optional().describe('Esc first'),
    wait_seconds: waitSecondsInput,
  },
  output: { ...taskOutput, ...waitedOutput, cursor: cursorOutput, hint: z.string() },
  handle: async ({ task_id, text, interrupt, wait_seconds }, services, call) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(task_id);
    if (text === undefined && interrupt !== true) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'message_task needs text, interrupt or both.',
        'Pass text to send it, or interrupt: true to stop the current turn.',
      );
    }
    const record = await tasks.message(taskId, { text, interrupt });
    const { record: after, cursor, more } = await thenWait(record, wait_seconds, tasks, call);
    const view = taskView(after);
    return { ...view, ...more, cursor, hint: `${pollingHint(after)}${cutHint(view)}` };
  },
});
