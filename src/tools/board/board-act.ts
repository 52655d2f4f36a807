import { z } from 'zod';
import { defineTool } from '../define-tool.js';

const MAX_NAME_CHARS = 30;

/** What a person does at the app in the chat. */
export const boardAct = defineTool({
  name: 'board_act',
  title: 'Act on the board',
  toolset: 'board',
  effect: 'destroy',
  openWorld: true,
  app: { visibility: ['app'] },
  description: 'What the user pressed in the board in the chat.',
  input: { action: z.looseObject({ type: z.string() }) },
  output: {
    ok: z.boolean(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string() }).optional(),
  },
  handle: async ({ action }, { board }, { clientName }) =>
    (await board()).chat.act({ client: authorOf(clientName), action }),
});

/** How a journal names the chat: `chat-claude-ai`. */
function authorOf(clientName: string | undefined): string {
  const words = (clientName ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return ['chat', ...words].join('-').slice(0, MAX_NAME_CHARS).replace(/-$/, '');
}
