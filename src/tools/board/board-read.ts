import { z } from 'zod';
import { defineTool } from '../define-tool.js';

/** Clients cut calls at 60 s, and some earlier. */
const MAX_WAIT_MS = 20_000;
const MAX_CHANNELS = 8;
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
    board_id: z.string().optional().describe('Of the previous answer'),
    channels: z.array(z.object({ channel: z.string(), since: z.int().min(0).optional() })).max(MAX_CHANNELS),
    tasks: z.array(z.string()).max(MAX_TASKS).optional(),
    wait_ms: z.int().min(0).max(MAX_WAIT_MS),
  },
  output: {
    board_id: z.string(),
    version: z.string(),
    home: z.string(),
    messages: z.array(z.looseObject({ type: z.string() })),
  },
  handle: async (query, { board }, { signal }) => (await board()).app.read(query, signal),
});
