import { z } from 'zod';
import type { EditorCaller } from '../../editor/editor-connection.js';
import type { ToolCall } from '../../mcp/tool.js';
import { outputBytesInput } from '../define-tool.js';

const MAX_ID_CHARS = 128;
const MAX_CLIENT_CHARS = 40;
const UNNAMED = 'claude-code-bridge';

export const terminalIdInput = z
  .string()
  .max(MAX_ID_CHARS)
  .describe('From create_terminal, execute or list_terminals');

/** How much of a terminal's output an answer holds, and how. */
export const outputInput = {
  max_bytes: outputBytesInput,
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
