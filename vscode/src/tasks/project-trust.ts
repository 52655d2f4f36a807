import * as vscode from 'vscode';
import { messageOf } from '../../../src/base/errors.js';
import { showBridgeTerminal } from '../board/bridge-terminal.js';
import { showError } from '../messages.js';
import type { TaskPart } from './task-part.js';

/** Opens a terminal that shows what a folder of the workspace configures for Claude Code, and asks whether careful tasks may use it. */
export const projectTrust: TaskPart = ({ bridge }) =>
  vscode.commands.registerCommand('claudeTerminalBridge.trustProject', async () => {
    try {
      const [only, ...others] = vscode.workspace.workspaceFolders ?? [];
      const folder = others.length === 0 ? only : await vscode.window.showWorkspaceFolderPick();
      if (folder === undefined) return;
      await showBridgeTerminal(bridge(), ['trust', folder.uri.fsPath], { name: 'Trust for Claude tasks' });
    } catch (error) {
      void showError(messageOf(error));
    }
  });
