// Pure: which tools a server offers, and carries out, that runs inside a task.
import { insideTaskFault, type InsideAllowance } from '../tasks/inside-task.js';
import type { Tool } from '../mcp/tool.js';

/** They start tasks, or act on tasks that the task around the server started: the task service checks which. */
const STARTS: ReadonlySet<string> = new Set([
  'CancelTask',
  'DelegateTask',
  'ask',
  'ask_async',
  'ask_cancel',
  'finish_task',
  'kill_task',
  'message_task',
  'start_task',
]);
/** Toolsets for a person at the chat or at the editor, whom a task does not have. */
const PERSONAL: ReadonlySet<string> = new Set(['board', 'terminal']);
/** It changes nothing but what other calls of this connection mean. */
const CHOOSES = 'set_active_project';

/** Whether the tool is offered inside a task. Reading tools from `look` on; those that change files or programs never. */
export function isOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): boolean {
  // It answers at once there, and a hook whose tool is missing shows an error.
  if (tool.toolset === 'native') return true;
  if (allows === 'off' || PERSONAL.has(tool.toolset)) return false;
  if (tool.listing().annotations.readOnlyHint || tool.name === CHOOSES) return true;
  return allows === 'start' && STARTS.has(tool.name);
}

/** Throws INSIDE_TASK for a tool that is not offered inside a task. */
export function requireOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): void {
  if (isOfferedInside(tool, allows)) return;
  const wanted = STARTS.has(tool.name) ? 'start' : 'look';
  const isNever = PERSONAL.has(tool.toolset) || (wanted === 'look' && allows !== 'off');
  throw insideTaskFault(
    `offer ${tool.name}`,
    isNever
      ? 'Use the tools of the session itself.'
      : `The user may allow it: "inside_tasks": "${wanted}" in the settings.`,
  );
}
