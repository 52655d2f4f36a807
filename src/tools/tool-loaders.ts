import type { Tool } from '../mcp/tool.js';
import type { ToolServices } from './services.js';

type Load = () => Promise<Readonly<Record<string, Tool<ToolServices>>>>;

/**
 * The modules of all tools: each export is a tool, whose toolset is the folder of its module. A module is loaded when one of its tools is
 * first called.
 */
export const toolLoaders: Readonly<Record<string, Load>> = {
  'board/board': () => import('./board/board.js'),
  'checks/verify-task': () => import('./checks/verify-task.js'),
  'conversation/ask': () => import('./conversation/ask.js'),
  'delegate/delegate': () => import('./delegate/delegate.js'),
  'files/list': () => import('./files/list.js'),
  'files/read': () => import('./files/read.js'),
  'git/git-commits': () => import('./git/git-commits.js'),
  'git/git-diff': () => import('./git/git-diff.js'),
  'git/git-status': () => import('./git/git-status.js'),
  'native/native-event': () => import('./native/native-event.js'),
  'process/input-and-output': () => import('./process/input-and-output.js'),
  'process/processes': () => import('./process/processes.js'),
  'process/spawn': () => import('./process/spawn.js'),
  'project/project': () => import('./project/project.js'),
  'tasks/result': () => import('./tasks/result.js'),
  'tasks/see': () => import('./tasks/see.js'),
  'tasks/start-and-end': () => import('./tasks/start-and-end.js'),
  'tasks/wait-and-answer': () => import('./tasks/wait-and-answer.js'),
  'terminal/commands': () => import('./terminal/commands.js'),
  'terminal/terminals': () => import('./terminal/terminals.js'),
};
