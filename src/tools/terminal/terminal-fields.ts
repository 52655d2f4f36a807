import { z } from 'zod';
import type { EditorCaller } from '../../editor/editor-connection.js';
import { REPLY_BUDGET_BYTES } from '../../mcp/answers.js';
import type { ToolCall } from '../../mcp/tool.js';

const MAX_ID_CHARS = 128;
/** An answer holds its text twice, and none may reach 1 MB. */
export const MAX_OUTPUT_BYTES = 150_000;
/** Clients cut calls at 60 s: every call of this server is answered before. */
export const MAX_WAIT_SECONDS = 45;
const MAX_CLIENT_CHARS = 40;
const UNNAMED = 'claude-code-bridge';

export const terminalIdInput = z
  .string()
  .max(MAX_ID_CHARS)
  .describe('From create_terminal, execute or list_terminals');

/** How much of a terminal's output an answer holds, and how. */
export const outputInput = {
  max_bytes: z
    .int()
    .min(100)
    .max(MAX_OUTPUT_BYTES)
    .default(REPLY_BUDGET_BYTES / 2),
  raw: z.boolean().default(false).describe('Keep escape sequences'),
};

/** What the user sees as the maker of a terminal: the name of the client, as far as the extension takes it. */
export function callerOf({ clientName, signal }: ToolCall): EditorCaller {
  const client = (clientName ?? '')
    .replace(/[^A-Za-z0-9 ._@/-]+/g, ' ')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MAX_CLIENT_CHARS)
    .trim();
  return { client: client === '' ? UNNAMED : client, signal };
}
