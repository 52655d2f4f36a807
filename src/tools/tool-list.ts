import type { Tool } from '../mcp/tool.js';
import { askAsync } from './conversation/ask-async.js';
import { askCancel } from './conversation/ask-cancel.js';
import { askStatus } from './conversation/ask-status.js';
import { ask } from './conversation/ask.js';
import { cancelTask } from './delegate/cancel-task.js';
import { delegateTask } from './delegate/delegate-task.js';
import { taskLogs } from './delegate/task-logs.js';
import { taskStatus } from './delegate/task-status.js';
import { getFileTree } from './files/get-file-tree.js';
import { listFiles } from './files/list-files.js';
import { searchFiles } from './files/search-files.js';
import { readFileRange } from './files/read-file-range.js';
import { readFile } from './files/read-file.js';
import { gitDiffStat } from './git/git-diff-stat.js';
import { gitDiff } from './git/git-diff.js';
import { gitLog } from './git/git-log.js';
import { gitShow } from './git/git-show.js';
import { gitStatus } from './git/git-status.js';
import { createDirectory } from './project/create-directory.js';
import { initGitRepo } from './project/init-git-repo.js';
import { writeFile } from './project/write-file.js';
import { setActiveProject } from './project/set-active-project.js';
import type { ToolServices } from './services.js';
import { finishTask } from './tasks/finish-task.js';
import { getTaskOutput } from './tasks/get-task-output.js';
import { getTaskResult } from './tasks/get-task-result.js';
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
  cancelTask,
  delegateTask,
  taskLogs,
  taskStatus,
  ask,
  askAsync,
  askCancel,
  askStatus,
  createDirectory,
  finishTask,
  getFileTree,
  getTaskOutput,
  getTaskResult,
  getTaskStatus,
  gitDiff,
  gitDiffStat,
  gitLog,
  gitShow,
  gitStatus,
  initGitRepo,
  killTask,
  listFiles,
  listTasks,
  messageTask,
  readFile,
  readFileRange,
  respondToTask,
  searchFiles,
  setActiveProject,
  startTask,
  waitForTask,
  writeFile,
];
