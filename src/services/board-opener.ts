import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/system-clock.js';
import { VERSION } from '../base/package.js';
import { ChatBoard } from '../board/chat-board.js';
import { linkToBoard, type BoardLaunch } from '../board/launch.js';
import type { BoardLink } from '../board/board-place.js';
import type { BridgeOptions } from './open-state.js';
import type { TaskServices } from './task-services.js';

/** The board of this state directory: links for a browser, and what the page in a chat reads and does. */
export function createBoardOpener(
  options: BridgeOptions,
  { stateDir, runtimeDir, tasks }: Pick<TaskServices, 'stateDir' | 'runtimeDir' | 'tasks'>,
): { link(): Promise<BoardLink>; readonly chat: ChatBoard } {
  const { env, config, settingsFile, command, keeperEntry, logger, nodeArguments = [] } = options;
  const launch: BoardLaunch = {
    boardEntry: join(dirname(keeperEntry), 'board.js'),
    nodeArguments,
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    env,
    logLevel: config.log_level,
    input: {
      homeDir: options.homeDir,
      cwd: options.cwd ?? homedir(),
      command: command ?? 'claude-code-bridge',
      keeperEntry,
      port: 0,
      new_token: false,
      ...(typeof settingsFile === 'string' && { configPath: settingsFile }),
    },
    clock: systemClock,
  };
  const chat = new ChatBoard({
    tasks,
    tasksDir: stateDir.tasksDir,
    version: VERSION,
    homeDir: options.homeDir,
    clock: systemClock,
    logger,
  });
  return { link: () => linkToBoard(launch), chat };
}
