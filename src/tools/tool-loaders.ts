import type { Tool } from '../mcp/tool.js';
import type { ToolServices } from './services.js';
import type { Toolset } from './toolsets.js';

export type BridgeTool = Tool<ToolServices, Toolset>;

/** Every tool there is, sorted by name; its module is loaded when it is first called. */
export const toolLoaders: Readonly<Record<string, () => Promise<BridgeTool>>> = {
  CancelTask: async () => (await import('./delegate/cancel-task.js')).cancelTask,
  DelegateTask: async () => (await import('./delegate/delegate-task.js')).delegateTask,
  TaskLogs: async () => (await import('./delegate/task-logs.js')).taskLogs,
  TaskStatus: async () => (await import('./delegate/task-status.js')).taskStatus,
  ask: async () => (await import('./conversation/ask.js')).ask,
  ask_async: async () => (await import('./conversation/ask-async.js')).askAsync,
  ask_cancel: async () => (await import('./conversation/ask-cancel.js')).askCancel,
  ask_status: async () => (await import('./conversation/ask-status.js')).askStatus,
  copy_from: async () => (await import('./process/copy-from.js')).copyFrom,
  copy_to: async () => (await import('./process/copy-to.js')).copyTo,
  create_directory: async () => (await import('./project/create-directory.js')).createDirectory,
  finish_task: async () => (await import('./tasks/finish-task.js')).finishTask,
  get_file_tree: async () => (await import('./files/get-file-tree.js')).getFileTree,
  get_task_output: async () => (await import('./tasks/get-task-output.js')).getTaskOutput,
  get_task_result: async () => (await import('./tasks/get-task-result.js')).getTaskResult,
  get_task_status: async () => (await import('./tasks/get-task-status.js')).getTaskStatus,
  git_diff: async () => (await import('./git/git-diff.js')).gitDiff,
  git_diff_stat: async () => (await import('./git/git-diff-stat.js')).gitDiffStat,
  git_log: async () => (await import('./git/git-log.js')).gitLog,
  git_show: async () => (await import('./git/git-show.js')).gitShow,
  git_status: async () => (await import('./git/git-status.js')).gitStatus,
  init_git_repo: async () => (await import('./project/init-git-repo.js')).initGitRepo,
  kill: async () => (await import('./process/kill.js')).kill,
  kill_task: async () => (await import('./tasks/kill-task.js')).killTask,
  list_files: async () => (await import('./files/list-files.js')).listFiles,
  list_tasks: async () => (await import('./tasks/list-tasks.js')).listTasks,
  message_task: async () => (await import('./tasks/message-task.js')).messageTask,
  open_board: async () => (await import('./board/open-board.js')).openBoard,
  ps: async () => (await import('./process/ps.js')).ps,
  read_file: async () => (await import('./files/read-file.js')).readFile,
  read_file_range: async () => (await import('./files/read-file-range.js')).readFileRange,
  respond_to_task: async () => (await import('./tasks/respond-to-task.js')).respondToTask,
  search_files: async () => (await import('./files/search-files.js')).searchFiles,
  set_active_project: async () => (await import('./project/set-active-project.js')).setActiveProject,
  spawn: async () => (await import('./process/spawn.js')).spawn,
  start_task: async () => (await import('./tasks/start-task.js')).startTask,
  stdin: async () => (await import('./process/stdin.js')).stdin,
  stdout: async () => (await import('./process/stdout.js')).stdout,
  wait_for_task: async () => (await import('./tasks/wait-for-task.js')).waitForTask,
  write_file: async () => (await import('./project/write-file.js')).writeFile,
};
