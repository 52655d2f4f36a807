import { z } from 'zod';
import { responseOf, statusOfAsk } from '../../conversations/conversation-manager.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { made, type ToolCall } from '../../mcp/tool.js';
import { isFinal, permissionModeSchema, type TaskRecord } from '../../tasks/task.js';
import { defineTool, MAX_WAIT_SECONDS, within } from '../define-tool.js';
import type { ToolServices } from '../services.js';
import { askedTask, askPerson, timeLeft } from '../tasks/ask-person.js';
import { askOutput, askView, mustHaveAnswer } from './ask-view.js';

/** How many questions a list names. */
const RECENT = 10;

const questionInput = {
  prompt: z.string().describe('The question'),
  previousResponseId: z.string().optional().describe('Continue after this answer, or any earlier one'),
  workingDirectory: z
    .string()
    .optional()
    .describe('Default: that of the previous response, else the active project'),
  model: z.string().min(1).optional(),
  permissionMode: permissionModeSchema.optional().describe('Default: auto, or as set'),
  timeoutSeconds: within(1, 14_400).optional(),
  maxCostUsd: z.number().min(0.01).optional(),
  maxTokens: z.int().min(1).optional(),
};

const idInput = z.string().describe('taskId of ask or ask_async');

export const ask = defineTool({
  name: 'ask',
  title: 'Ask Claude Code',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'ask Claude Code a question in a project',
  description:
    'Ask Claude Code; returns its answer and a responseId to continue from. After 45 s it goes on like ask_async, and says so.',
  input: questionInput,
  output: askOutput,
  handle: async (question, services, call) => {
    const leftMs = timeLeft(MAX_WAIT_SECONDS);
    // The call comes a second time with what a person answered: that question goes on.
    const earlier = askedTask(call.person);
    const conversations = await services.conversations();
    const asked =
      earlier === undefined
        ? await conversations.ask(question)
        : await conversations.status(knownTaskId(earlier));
    if (call.follower !== undefined && !isFinal(asked.status)) {
      call.follower.follow(asked.task_id);
      return askView(asked);
    }
    return askView(mustHaveAnswer(await answerOrPerson(asked.task_id, leftMs, services, call)));
  },
});

export const askAsync = defineTool({
  name: 'ask_async',
  title: 'Ask in the background',
  effect: 'destroy',
  openWorld: true,
  description: 'Ask Claude Code without waiting; ask_status returns the answer.',
  input: questionInput,
  output: askOutput,
  handle: async (question, { conversations }, { follower }) => {
    const record = await (await conversations()).ask(question);
    if (!isFinal(record.status)) follower?.follow(record.task_id);
    return askView(record);
  },
});

export const askStatus = defineTool({
  name: 'ask_status',
  title: 'Status of a question',
  effect: 'read',
  description: 'The answer to a question, or its progress. Without taskId: the newest questions.',
  input: {
    taskId: idInput.optional(),
    cursor: z.string().optional().describe('For the rest of a long answer'),
    waitSeconds: within(0, MAX_WAIT_SECONDS).optional().describe('How long to wait for the answer'),
  },
  output: {
    ...askOutput,
    taskId: askOutput.taskId.optional(),
    status: askOutput.status.optional(),
    elapsedSeconds: askOutput.elapsedSeconds.optional(),
    questions: z.array(made<ReturnType<typeof questionView>>()).optional(),
  },
  handle: async ({ taskId, cursor, waitSeconds }, services, call) => {
    const conversations = await services.conversations();
    if (taskId === undefined) return { questions: (await conversations.recent(RECENT)).map(questionView) };
    const known = await conversations.status(knownTaskId(taskId));
    if (waitSeconds === undefined) return askView(known, cursor);
    const leftMs = timeLeft(waitSeconds);
    return askView(await answerOrPerson(known.task_id, leftMs, services, call), cursor);
  },
});

function questionView(record: TaskRecord) {
  return {
    taskId: record.task_id,
    responseId: responseOf(record),
    status: statusOfAsk(record),
    prompt: record.prompt_summary,
    askedAt: record.created_at,
  };
}

export const askCancel = defineTool({
  name: 'ask_cancel',
  title: 'Cancel a question',
  effect: 'destroy',
  description: 'Cancel a question that has no answer yet.',
  input: { taskId: idInput },
  output: askOutput,
  handle: async ({ taskId }, { conversations }) =>
    askView(await (await conversations()).cancel(knownTaskId(taskId), 'Cancelled by ask_cancel.')),
});

/**
 * Waits for the answer to a question while time is left. What Claude Code asks meanwhile the person at the client is asked, where the
 * client can show it. Resolves as ConversationManager.answer does; throws TASK_NOT_FOUND.
 */
async function answerOrPerson(
  taskId: string,
  leftMs: () => number,
  services: Pick<ToolServices, 'conversations' | 'tasks'>,
  { signal, person, progress: onProgress }: ToolCall,
): Promise<TaskRecord> {
  const [conversations, tasks] = await Promise.all([services.conversations(), services.tasks()]);
  for (;;) {
    const record = await conversations.answer(taskId, { timeoutMs: leftMs(), signal, onProgress });
    if ((await askPerson(record, tasks, person, leftMs())) === undefined) return record;
  }
}
