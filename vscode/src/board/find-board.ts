import { BridgeCommandError, runBridge, type BridgeCommandOptions } from './bridge-command.js';
import { linkToRunningBoard } from './board-socket.js';
import type { BoardLink } from '../../../src/board/board-place.js';

/**
 * A link to the board. Undefined where none runs, unless it `mayStart`: only what a person does starts one. Throws BridgeCommandError when
 * it cannot be started.
 */
export async function findBoard(
  command: BridgeCommandOptions,
  mayStart: boolean,
): Promise<BoardLink | undefined> {
  const { statePath } = command;
  const running = await linkToRunningBoard(statePath);
  if (running !== undefined || !mayStart) return running;
  await runBridge(command, ['board', '--no-open']);
  const started = await linkToRunningBoard(statePath);
  if (started !== undefined) return started;
  throw new BridgeCommandError(
    `The board runs, but not for ${statePath}, or it is of an older version of the bridge. Set claudeTerminalBridge.stateDir, or install the newest claude-code-bridge.`,
  );
}
