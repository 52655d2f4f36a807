import { z } from 'zod';
import { appPages } from '../../base/package.js';
import { isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';
import { made } from '../../mcp/tool.js';
import { defineTool, within } from '../define-tool.js';

/** The tasks that a person would look at first. */
const MAX_TASKS = 20;
const MAX_NAME_CHARS = 30;
const GIVE_LINK =
  'Give the user this link; it works once, within a minute. The page is served on this machine alone; on another one they first run ssh -L with its port.';

export const openBoard = defineTool({
  name: 'open_board',
  title: 'Open the board',
  effect: 'write',
  page: appPages.board.uri,
  description: 'Link to a page of all tasks, for the user.',
  input: {},
  output: {
    url: z.string(),
    message: z.string(),
    tasks: z.array(made<ReturnType<typeof lineOf>>()).optional(),
  },
  handle: async (_input, { board, tasks }) => {
    const [{ url }, page] = await Promise.all([
      (await board()).link(),
      (await tasks()).list({ status: 'active', limit: MAX_TASKS }),
    ]);
    const open = page.tasks.filter(({ status }) => !isFinal(status)).map(lineOf);
    if (open.length === 0) return { url, message: `${GIVE_LINK} No task runs or waits now.` };
    return { url, message: GIVE_LINK, tasks: open };
  },
});

function lineOf(record: TaskRecord) {
  const { task_id, status, prompt_summary: prompt } = record;
  const asks = openDecisions(record).map(({ summary }) => summary);
  return { task_id, status, prompt, ...(asks.length > 0 && { asks }) };
}

/** What the app in the chat shows: it asks again as long as it is seen. */
export const boardRead = defineTool({
  name: 'board_read',
  title: 'Read the board',
  effect: 'read',
  caller: 'page',
  description: 'News of tasks, for the board in the chat.',
  input: {
    after: z.string().max(100).optional().describe('Of the previous answer: "answer"'),
    tasks: z.array(z.string()).max(MAX_TASKS).optional(),
    /** Clients cut calls at 60 s, and some earlier. */
    wait_ms: within(0, 20_000),
  },
  output: {
    answer: z.string(),
    version: z.string(),
    home: z.string(),
    whole: z.boolean(),
    set: z.record(z.string(), z.unknown()),
    del: z.array(z.string()),
  },
  handle: async ({ waitMs, ...query }, { board }, { signal }) =>
    (await board()).chat.read({ ...query, wait_ms: waitMs }, signal),
});

/** What a person does at the app in the chat. */
export const boardAct = defineTool({
  name: 'board_act',
  title: 'Act on the board',
  effect: 'destroy',
  openWorld: true,
  caller: 'page',
  description: 'What the user pressed in the board in the chat.',
  input: { action: z.looseObject({ type: z.string() }) },
  output: {
    ok: z.boolean(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string() }).optional(),
  },
  handle: async ({ action }, { board }, { clientName = '' }) => {
    // How a journal names the chat: `chat-claude-ai`.
    const words = clientName.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const client = ['chat', ...words].join('-').slice(0, MAX_NAME_CHARS).replace(/-$/, '');
    return (await board()).chat.act({ client, action });
  },
});
