import { z } from 'zod';
import type { EditorCaller } from '../../editor/editor-connection.js';
import type { ToolCall } from '../../mcp/tool.js';

export const terminalIdInput = z
  .string()
  .max(128)
  .describe('From create_terminal, execute or list_terminals');

/** What the user sees as the maker of a terminal: the name of the client, as far as the extension takes it. */
export function callerOf({ clientName = '', signal }: ToolCall): EditorCaller {
  const client = clientName
    .replace(/[^A-Za-z0-9 ._@/-]+/g, ' ')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40)
    .trim();
  return { client: client === '' ? 'claude-code-bridge' : client, signal };
}
