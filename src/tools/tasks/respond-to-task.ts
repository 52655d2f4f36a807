import { z } from 'zod';
import { pollingHint } from '../../tasks/polling-hint.js';
import { isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { formKey } from './ask-person.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { cursorOutput, cutHint, requestView, taskIdInput, taskOutput, taskView } from './task-fields.js';
import { thenWait, waitedOutput, waitSecondsInput } from './wait-for-task.js';

/** Longer words are a prompt, and belong into message_task. */
const MAX_MESSAGE_CHARS = 10_000;

export const respondToTask = defineTool({
  name: 'respond_to_task',
  title: 'Answer a decision',
  toolset: 'tasks',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'answer a question or permission request of a delegated task',
  alwaysLoad: true,
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
        'Question to label (several: a, b) or text; else input field to new text; for a plan also mode: auto, acceptEdits',
      ),
    wait_seconds: waitSecondsInput,
  },
  output: { ...taskOutput, ...waitedOutput, cursor: cursorOutput.optional(), hint: z.string() },
  handle: async ({ task_id, decision_id, verdict, message, answers, wait_seconds }, services, call) => {
    const tasks = await services.tasks();
    const taskId = knownTaskId(task_id);
    const unseen = verdict === 'deny' ? '' : unseenOf(await tasks.get(taskId), decision_id);
    const record = await tasks.respond(taskId, {
      decision_id,
      verdict,
      ...(message !== undefined && { message }),
      ...(answers !== undefined && { answers }),
      by: 'caller',
    });
    call.person?.close?.(formKey(taskId, decision_id));
    const { record: after, cursor, more } = await thenWait(record, wait_seconds, tasks, call);
    const view = taskView(after);
    const otherTool = followedBy(after);
    return {
      ...view,
      ...more,
      ...(otherTool === '' && { cursor }),
      hint: `${unseen}${pollingHint(after)}${otherTool}${cutHint(view)}`,
    };
  },
});

/** The tool by which the caller of another toolset follows its task; empty for one of start_task. */
function followedBy({ purpose, delegated, status }: TaskRecord): string {
  if (isFinal(status)) return '';
  if (purpose === 'ask') return ' ask_status has the answer when it is there.';
  return delegated === true ? ' TaskStatus shows how it goes on.' : '';
}

/** A yes to what no answer of these tools shows whole is said to be one. */
function unseenOf(record: TaskRecord, decisionId: string): string {
  const decision = openDecisions(record).find(({ decision_id }) => decision_id === decisionId);
  const { cut } = decision === undefined ? {} : requestView(decision, record.task_id);
  return cut === undefined ? '' : `You allowed more than these tools showed of ${decisionId} (${cut}). `;
}
