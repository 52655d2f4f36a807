import { z } from 'zod';
import type { AskedWindow } from '../../editor/editor-windows.js';
import type { EditorTerminal } from '../../editor/protocol.js';
import { REPLY_BUDGET_BYTES, wireBytes } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import { callerOf } from './terminal-fields.js';

const terminalOutput = z.object({
  terminal_id: z.string(),
  name: z.string(),
  created_by: z.string(),
  shell: z.string().nullable(),
  cwd: z.string().nullable(),
  state: z.enum(['idle', 'busy']),
  /** Of the last command that has ended. */
  exit_code: z.int().nullable(),
  cursor: z.int(),
});

const windowOutput = z.object({
  editor: z.string(),
  folders: z.array(z.string()),
  trusted: z.boolean(),
  /** Why it did not say what is in it. */
  problem: z.string().optional(),
  terminals: z.array(terminalOutput),
});
type WindowView = z.input<typeof windowOutput>;

export const listTerminals = defineTool({
  name: 'list_terminals',
  title: 'List terminals of VS Code',
  toolset: 'terminal',
  effect: 'read',
  description: 'Windows of VS Code with their folders, and the terminals that programs made in them.',
  input: {},
  output: { windows: z.array(windowOutput), left_out: z.int().optional(), note: z.string().optional() },
  handle: async (_args, services, call) => {
    const terminals = await services.terminals();
    const asked = await terminals.list(callerOf(call));
    if (asked.length === 0) {
      const { message, hint } = terminals.noWindow();
      return { windows: [], note: `${message} ${hint}` };
    }
    return withinBudget(asked.map(windowView));
  },
});

function windowView({ window, folders, trusted, terminals, fault }: AskedWindow): WindowView {
  return {
    editor: window.editor,
    folders: [...folders],
    trusted,
    ...(fault !== undefined && { problem: fault.message }),
    terminals: terminals.map(terminalView),
  };
}

function terminalView(terminal: EditorTerminal): z.input<typeof terminalOutput> {
  const { terminalId, terminalName, createdBy, shell, cwd, state, execution, cursor } = terminal;
  return {
    terminal_id: terminalId,
    name: terminalName,
    created_by: createdBy,
    shell,
    cwd,
    state,
    exit_code: execution?.state === 'ended' ? execution.exitCode : null,
    cursor,
  };
}

/** All windows, and as many of their terminals as an answer holds. */
function withinBudget(windows: readonly WindowView[]): { windows: WindowView[]; left_out?: number } {
  const bare = windows.map((window) => ({ ...window, terminals: [] }));
  let bytes = wireBytes(bare);
  let leftOut = 0;
  const shown = windows.map((window) => {
    const terminals = window.terminals.filter(
      (terminal) => (bytes += wireBytes(terminal) + 1) <= REPLY_BUDGET_BYTES,
    );
    leftOut += window.terminals.length - terminals.length;
    return { ...window, terminals };
  });
  return { windows: shown, ...(leftOut > 0 && { left_out: leftOut }) };
}
