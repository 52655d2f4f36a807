import { z } from 'zod';
import { isFinal, openDecisions } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { appPages } from '../../base/package.js';

/** The tasks that a person would look at first. */
const MAX_TASKS = 20;

export const openBoard = defineTool({
  name: 'open_board',
  title: 'Open the board',
  toolset: 'board',
  effect: 'write',
  app: { resourceUri: appPages.board.uri },
  description: 'Link to a page of all tasks, for the user.',
  input: {},
  output: {
    url: z.string(),
    message: z.string(),
    tasks: z.array(
      z.object({
        task_id: z.string(),
        status: z.string(),
        prompt: z.string(),
        asks: z.array(z.string()).optional(),
      }),
    ),
  },
  handle: async (_input, { board, tasks }) => {
    const [{ url }, page] = await Promise.all([
      (await board()).link(),
      (await tasks()).list({ status: 'active', limit: MAX_TASKS }),
    ]);
    return {
      url,
      message:
        'Give the user this link; it works once, within a minute. The page is served on this machine alone; on another one they first run ssh -L with its port.',
      tasks: page.tasks
        .filter(({ status }) => !isFinal(status))
        .map((record) => {
          const asks = openDecisions(record).map(({ summary }) => summary);
          const { task_id, status, prompt_summary: prompt } = record;
          return { task_id, status, prompt, ...(asks.length > 0 && { asks }) };
        }),
    };
  },
});
