import * as vscode from 'vscode';
import { bridgeCommand, type BridgeCommandOptions } from './bridge-command.js';

/** Leaves the terminal open until the person presses Enter. */
const UNTIL_READ = '"$@"; printf "\\nEnter closes this terminal. "; read -r _';

/** Shows a terminal of the editor that runs `claude-code-bridge` with arguments. Throws BridgeCommandError. */
export async function showBridgeTerminal(
  command: BridgeCommandOptions,
  args: readonly string[],
  look: Pick<vscode.TerminalOptions, 'name' | 'iconPath'>,
): Promise<void> {
  vscode.window
    .createTerminal({
      ...look,
      shellPath: '/bin/sh',
      shellArgs: ['-c', UNTIL_READ, 'sh', ...(await bridgeCommand(command)), ...args],
      cwd: command.homeDir,
      env: { MCP_STATE_DIR: command.statePath },
    })
    .show();
}
