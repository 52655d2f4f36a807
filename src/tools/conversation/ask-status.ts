import { z } from 'zod';
import { statusOfAsk } from '../../conversations/conversation-manager.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { answerOrPerson } from './answer-or-person.js';
import { askIdInput, askOutput, askView } from './ask-fields.js';

const RECENT = 10;
const MAX_WAIT_SECONDS = 45;
const MS_PER_SECOND = 1_000;

const recentQuestion = z.object({
  taskId: askOutput.taskId,
  responseId: askOutput.responseId,
  status: askOutput.status,
  prompt: z.string(),
  askedAt: z.string(),
});

export const askStatus = defineTool({
  name: 'ask_status',
  title: 'Status of a question',
  toolset: 'conversation',
  effect: 'read',
  description: 'The answer to a question, or its progress. Without taskId: the newest questions.',
  input: {
    taskId: askIdInput.optional(),
    cursor: z.string().optional().describe('For the rest of a long answer'),
    waitSeconds: z.int().min(0).max(MAX_WAIT_SECONDS).optional().describe('How long to wait for the answer'),
  },
  output: {
    ...askOutput,
    taskId: askOutput.taskId.optional(),
    status: askOutput.status.optional(),
    elapsedSeconds: askOutput.elapsedSeconds.optional(),
    questions: z.array(recentQuestion).optional(),
  },
  handle: async ({ taskId, cursor, waitSeconds }, services, call) => {
    const conversations = await services.conversations();
    if (taskId === undefined) {
      const questions = (await conversations.recent(RECENT)).map(({ record, responseId }) => ({
        taskId: record.task_id,
        responseId,
        status: statusOfAsk(record),
        prompt: record.prompt_summary,
        askedAt: record.created_at,
      }));
      return { questions };
    }
    const known = await conversations.status(knownTaskId(taskId));
    const record =
      waitSeconds === undefined
        ? known
        : await answerOrPerson(known.task_id, waitSeconds * MS_PER_SECOND, services, call);
    return askView(record, cursor);
  },
});
