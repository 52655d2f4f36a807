import type { Tool } from '../mcp/tool.js';
import { setActiveProject } from './project/set-active-project.js';
import type { ToolServices } from './services.js';
import { getTaskOutput } from './tasks/get-task-output.js';
import { getTaskStatus } from './tasks/get-task-status.js';
import { killTask } from './tasks/kill-task.js';
import { listTasks } from './tasks/list-tasks.js';
import { messageTask } from './tasks/message-task.js';
import { respondToTask } from './tasks/respond-to-task.js';
import { startTask } from './tasks/start-task.js';
import { waitForTask } from './tasks/wait-for-task.js';
import { chosenToolsets, type Toolset } from './toolsets.js';

export type BridgeTool = Tool<ToolServices, Toolset>;

/** Every tool there is, sorted by name. */
export const allTools: readonly BridgeTool[] = [
  getTaskOutput,
  getTaskStatus,
  killTask,
  listTasks,
  messageTask,
  respondToTask,
  setActiveProject,
  startTask,
  waitForTask,
];

/** The tools of the chosen toolsets. Throws CONFIG_ERROR for a toolset that does not exist. */
export function enabledTools(setting: 'all' | readonly string[]): readonly BridgeTool[] {
  const chosen = chosenToolsets(setting);
  return allTools.filter((tool) => chosen.has(tool.toolset));
}
