import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeCommandError, runBridge, type BridgeCommandOptions } from './bridge-command.js';
import { linkToRunningBoard } from './board-socket.js';
import type { BoardLink } from '../../../src/board/board-place.js';

/**
 * A link to the board, which is started if none runs. Undefined where there is no task, unless the board `isWanted` all the
 * same. Throws BridgeCommandError when it cannot be started.
 */
export async function findBoard(
  command: BridgeCommandOptions,
  isWanted: boolean,
): Promise<BoardLink | undefined> {
  const { statePath } = command;
  const running = await linkToRunningBoard(statePath);
  if (running !== undefined) return running;
  if (!isWanted && !(await hasTasks(statePath))) return undefined;
  await runBridge(command, ['board', '--no-open']);
  const started = await linkToRunningBoard(statePath);
  if (started !== undefined) return started;
  throw new BridgeCommandError(
    `The board runs, but not for ${statePath}, or it is of an older version of the bridge. Set claudeTerminalBridge.stateDir, or install the newest claude-code-bridge.`,
  );
}

async function hasTasks(statePath: string): Promise<boolean> {
  try {
    return (await readdir(join(statePath, 'tasks'))).length > 0;
  } catch {
    // The bridge was not used yet.
    return false;
  }
}
