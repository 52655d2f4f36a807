import { z } from 'zod';
import { defineTool } from '../define-tool.js';

/** Clients cut calls at 60 s, and some earlier. */
const MAX_WAIT_MS = 20_000;
const MAX_TASKS = 20;

/** What the app in the chat shows: it asks again as long as it is seen. */
export const boardRead = defineTool({
  name: 'board_read',
  title: 'Read the board',
  toolset: 'board',
  effect: 'read',
  app: { visibility: ['app'] },
  description: 'News of tasks, for the board in the chat.',
  isExact: true,
  input: {
    after: z.string().max(100).optional().describe('Of the previous answer: "answer"'),
    tasks: z.array(z.string()).max(MAX_TASKS).optional(),
    wait_ms: z.int().min(0).max(MAX_WAIT_MS),
  },
  output: {
    answer: z.string(),
    version: z.string(),
    home: z.string(),
    whole: z.boolean(),
    set: z.record(z.string(), z.unknown()),
    del: z.array(z.string()),
  },
  handle: async (query, { board }, { signal }) => {
    const { del, set, ...answer } = await (await board()).chat.read(query, signal);
    return { ...answer, set: { ...set }, del: [...del] };
  },
});
