// Pure: which tools a server offers, and carries out, that runs inside a task.
import { insideTaskFault, type InsideAllowance } from '../tasks/inside-task.js';
import type { Tool } from '../mcp/tool.js';

/** Toolsets for a person at the chat or at the editor, whom a task does not have. */
const PERSONAL: ReadonlySet<string> = new Set(['board', 'terminal']);
/** It changes nothing but what other calls of this connection mean. */
const CHOOSES = 'set_active_project';

/** Whether the tool is offered inside a task: with `look`, tools that only read. */
export function isOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): boolean {
  // It answers at once there, and a hook whose tool is missing shows an error.
  if (tool.toolset === 'native') return true;
  if (allows === 'off' || PERSONAL.has(tool.toolset)) return false;
  return isReading(tool);
}

/** Throws INSIDE_TASK for a tool that is not offered inside a task. */
export function requireOfferedInside<Services>(tool: Tool<Services>, allows: InsideAllowance): void {
  if (isOfferedInside(tool, allows)) return;
  const isNever = PERSONAL.has(tool.toolset) || !isReading(tool);
  throw insideTaskFault(
    `offer ${tool.name}`,
    isNever
      ? 'Use the tools of the session itself.'
      : 'The user may allow it: "inside_tasks": "look" in the settings.',
  );
}

function isReading<Services>(tool: Tool<Services>): boolean {
  return tool.listing().annotations.readOnlyHint || tool.name === CHOOSES;
}
