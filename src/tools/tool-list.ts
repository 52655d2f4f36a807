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
import type { Toolset } from './toolsets.js';

/** Every tool there is, sorted by name. */
export const allTools: readonly Tool<ToolServices, Toolset>[] = [
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
