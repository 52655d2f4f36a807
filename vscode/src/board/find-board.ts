import { BridgeCommandError, runBridge, type BridgeCommandOptions } from './bridge-command.js';
import { runningBoard, type RunningBoard } from '../../../src/board/running-board.js';

/**
 * The board that runs. Undefined where none runs, unless it `mayStart`: only what a person does starts one. Throws BridgeCommandError when
 * it cannot be started.
 */
export async function findBoard(
  command: BridgeCommandOptions,
  mayStart: boolean,
): Promise<RunningBoard | undefined> {
  const { statePath } = command;
  const running = await runningBoard(statePath);
  if (running !== undefined || !mayStart) return running;
  await runBridge(command, ['board', '--no-open']);
  const started = await runningBoard(statePath);
  if (started !== undefined) return started;
  throw new BridgeCommandError(
    `The board runs, but not for ${statePath}, or it is of an older version of the bridge. Set claudeTerminalBridge.stateDir, or install the newest claude-code-bridge.`,
  );
}
