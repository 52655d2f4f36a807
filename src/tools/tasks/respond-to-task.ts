import { z } from 'zod';
import { pollingHint } from '../../tasks/polling-hint.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId, taskIdInput, taskOutput, taskView } from './task-fields.js';

/** Longer words are a prompt, and belong into message_task. */
const MAX_MESSAGE_CHARS = 10_000;

export const respondToTask = defineTool({
  name: 'respond_to_task',
  title: 'Answer a decision',
  toolset: 'tasks',
  effect: 'destroy',
  openWorld: true,
  description: 'Answer an open decision of a task. The first answer wins.',
  input: {
    task_id: taskIdInput,
    decision_id: z.string(),
    verdict: z.enum(['allow', 'allow_session', 'deny']),
    message: z.string().max(MAX_MESSAGE_CHARS).optional().describe('With deny: why, or what to do instead'),
    answers: z
      .record(z.string(), z.string().max(MAX_MESSAGE_CHARS))
      .optional()
      .describe(
        'Question to label or free text; else input field to new text; for a plan also mode: auto, acceptEdits',
      ),
  },
  output: { ...taskOutput, hint: z.string() },
  handle: async ({ task_id, decision_id, verdict, message, answers }, { tasks }) => {
    const record = await tasks.respond(knownTaskId(task_id), {
      decision_id,
      verdict,
      ...(message !== undefined && { message }),
      ...(answers !== undefined && { answers }),
      by: 'caller',
    });
    return { ...taskView(record), hint: pollingHint(record) };
  },
});
