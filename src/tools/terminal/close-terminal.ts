import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { callerOf, terminalIdInput } from './terminal-fields.js';

export const closeTerminal = defineTool({
  name: 'close_terminal',
  title: 'Close a terminal of VS Code',
  toolset: 'terminal',
  effect: 'destroy',
  description: 'Close a terminal and end what runs in it. Its output is gone then.',
  input: { terminal_id: terminalIdInput },
  output: { terminal_id: z.string(), message: z.string() },
  handle: async ({ terminal_id: id }, services, call) => {
    const terminals = await services.terminals();
    const { terminal, isGone } = await terminals.close(id, callerOf(call));
    const { state, terminalName } = terminal;
    const name = JSON.stringify(terminalName);
    const what = state === 'busy' ? ', and the command that ran in it was ended' : '';
    return {
      terminal_id: id,
      message: isGone
        ? `The terminal ${name} was closed${what}.`
        : `VS Code was told to close the terminal ${name}, and has not done so yet: see list_terminals.`,
    };
  },
});
