import * as vscode from 'vscode';
import { messageOf } from '../../../src/base/errors.js';
import { bridgeCommand } from '../board/bridge-command.js';
import { showError } from '../messages.js';
import type { TaskPart } from './task-part.js';

/** Leaves the terminal open until the person presses Enter. */
const UNTIL_READ = '"$@"; printf "\\nEnter closes this terminal. "; read -r _';

/** Opens a terminal that shows what a folder of the workspace configures for Claude Code, and asks whether careful tasks may use it. */
export const projectTrust: TaskPart = ({ bridge, homeDir }) =>
  vscode.commands.registerCommand('claudeTerminalBridge.trustProject', async () => {
    try {
      const [only, ...others] = vscode.workspace.workspaceFolders ?? [];
      const folder = others.length === 0 ? only : await vscode.window.showWorkspaceFolderPick();
      if (folder === undefined) return;
      const { statePath } = bridge();
      vscode.window
        .createTerminal({
          name: 'Trust for Claude tasks',
          shellPath: '/bin/sh',
          shellArgs: ['-c', UNTIL_READ, 'sh', ...(await bridgeCommand(bridge())), 'trust', folder.uri.fsPath],
          cwd: homeDir,
          env: { MCP_STATE_DIR: statePath },
        })
        .show();
    } catch (error) {
      void showError(messageOf(error));
    }
  });
