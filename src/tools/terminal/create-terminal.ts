import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { callerOf } from './terminal-fields.js';

const MAX_NAME_CHARS = 60;
const MAX_PATH_CHARS = 4_096;
const MAX_VALUE_CHARS = 100_000;

export const createTerminal = defineTool({
  name: 'create_terminal',
  title: 'Open a terminal in VS Code',
  toolset: 'terminal',
  effect: 'destroy',
  openWorld: true,
  description:
    'Open a terminal in the window of VS Code that has the project open. It stays until it is closed.',
  input: {
    path: z.string().optional().describe('Folder that the window has open. Default: cwd'),
    cwd: z.string().optional().describe('Where the shell begins. Default: path, else the active project'),
    name: z.string().min(1).max(MAX_NAME_CHARS).optional(),
    shell: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARS)
      .optional()
      .describe('Terminal profile or program. Default: the user’s'),
    env: z.record(z.string(), z.string().max(MAX_VALUE_CHARS)).optional(),
  },
  output: {
    terminal_id: z.string(),
    name: z.string(),
    shell: z.string().nullable(),
    cwd: z.string(),
  },
  handle: async ({ path, cwd, name, shell, env }, services, call) => {
    const terminals = await services.terminals();
    const made = await terminals.create({ path, cwd, name, shell, env }, callerOf(call));
    return {
      terminal_id: made.terminalId,
      name: made.terminalName,
      shell: made.shell,
      cwd: made.cwd,
    };
  },
});
