import { z } from 'zod';
import { noWindow } from '../../editor/editor-fault.js';
import type { AskedWindow } from '../../editor/editor-windows.js';
import { REPLY_BUDGET_BYTES, wireBytes } from '../../mcp/answers.js';
import { made } from '../../mcp/tool.js';
import { defineTool, someText } from '../define-tool.js';
import { callerOf, terminalIdInput } from './terminal-fields.js';

export const createTerminal = defineTool({
  name: 'create_terminal',
  title: 'Open a terminal in VS Code',
  effect: 'destroy',
  openWorld: true,
  description:
    'Open a terminal in the window of VS Code that has the project open. It stays until it is closed.',
  input: {
    path: z.string().optional().describe('Folder that the window has open. Default: cwd'),
    cwd: z.string().optional().describe('Where the shell begins. Default: path, else the active project'),
    name: someText(60).optional(),
    shell: someText(4_096).optional().describe('Terminal profile or program. Default: the user’s'),
    env: z.record(z.string(), z.string().max(100_000)).optional(),
  },
  output: {
    terminal_id: z.string(),
    name: z.string(),
    shell: z.string().nullable(),
    cwd: z.string(),
  },
  handle: async (query, { terminals }, call) => {
    const created = await (await terminals()).create(query, callerOf(call));
    return { ...created, name: created.terminalName };
  },
});

export const closeTerminal = defineTool({
  name: 'close_terminal',
  title: 'Close a terminal of VS Code',
  effect: 'destroy',
  description: 'Close a terminal and end what runs in it. Its output is gone then.',
  input: { terminal_id: terminalIdInput },
  output: { terminal_id: z.string(), message: z.string() },
  handle: async ({ terminalId }, { terminals }, call) => {
    const { terminal, isGone } = await (await terminals()).close(terminalId, callerOf(call));
    const name = JSON.stringify(terminal.terminalName);
    const what = terminal.state === 'busy' ? ', and the command that ran in it was ended' : '';
    const message = isGone
      ? `The terminal ${name} was closed${what}.`
      : `VS Code was told to close the terminal ${name}, and has not done so yet: see list_terminals.`;
    return { terminalId, message };
  },
});

export const listTerminals = defineTool({
  name: 'list_terminals',
  title: 'List terminals of VS Code',
  effect: 'read',
  description: 'Windows of VS Code with their folders, and the terminals that programs made in them.',
  input: {},
  output: { windows: z.array(made<WindowView>()), left_out: z.int().optional(), note: z.string().optional() },
  handle: async (_args, { terminals }, call) => {
    const asked = await (await terminals()).list(callerOf(call));
    if (asked.length > 0) return withinBudget(asked.map(windowView));
    const { message, hint } = noWindow();
    return { windows: [], note: `${message} ${hint}` };
  },
});

type WindowView = ReturnType<typeof windowView>;

/** `problem`: why it did not say what is in it. */
function windowView({ window, folders, trusted, terminals, fault }: AskedWindow) {
  return {
    editor: window.editor,
    folders,
    trusted,
    ...(fault !== undefined && { problem: fault.message }),
    terminals: terminals.map(({ terminalId, terminalName: name, createdBy, execution, ...terminal }) => ({
      terminal_id: terminalId,
      name,
      created_by: createdBy,
      shell: terminal.shell,
      cwd: terminal.cwd,
      state: terminal.state,
      /** Of the last command that has ended. */
      exit_code: execution?.state === 'ended' ? execution.exitCode : null,
      cursor: terminal.cursor,
    })),
  };
}

/** All windows, and as many of their terminals as an answer holds. */
function withinBudget(windows: readonly WindowView[]) {
  let bytes = wireBytes(windows.map((window) => ({ ...window, terminals: [] })));
  let leftOut = 0;
  const shown = windows.map((window) => {
    const terminals = window.terminals.filter(
      (terminal) => (bytes += wireBytes(terminal) + 1) <= REPLY_BUDGET_BYTES,
    );
    leftOut += window.terminals.length - terminals.length;
    return { ...window, terminals };
  });
  return { windows: shown, ...(leftOut > 0 && { leftOut }) };
}
