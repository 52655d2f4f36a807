import * as vscode from 'vscode';
import { DisposableStore } from '../../../src/base/lifecycle.js';
import { oneLine } from '../../../src/base/text.js';
import { bridgeCommand } from '../board/bridge-command.js';
import { rowText } from '../shown-text.js';
import { chooseTask } from './ask-board.js';
import { taskIdOf } from './task-choices.js';
import { taskCommand, taskCommands, type TaskContext, type TaskPart } from './task-part.js';

const MAX_NAME_CHARS = 60;
/** Leaves the terminal open until the person presses Enter. */
const UNTIL_READ = '"$@"; printf "\\nEnter closes this terminal. "; read -r _';

/** Terminals of the editor that run `claude-code-bridge`: `attach` for a task, `trust` for a folder of the workspace. */
export const taskTerminals: TaskPart = (context) => {
  const owned = new DisposableStore();
  owned.add(
    taskCommand(taskCommands.openTerminal, async (given) => {
      const taskId = taskIdOf(given) ?? (await chooseTask(context, 'Open Terminal of a Task', 'running'));
      if (taskId === undefined) return;
      const summary = context.board.board.tasks[taskId]?.prompt_summary;
      const name = oneLine(rowText(summary ?? taskId), MAX_NAME_CHARS);
      await showTerminal(context, ['attach', taskId], { name, iconPath: new vscode.ThemeIcon('hubot') });
    }),
  );
  owned.add(
    taskCommand('claudeTerminalBridge.trustProject', async () => {
      const [only, ...others] = vscode.workspace.workspaceFolders ?? [];
      const folder = others.length === 0 ? only : await vscode.window.showWorkspaceFolderPick();
      if (folder === undefined) return;
      await showTerminal(context, ['trust', folder.uri.fsPath], { name: 'Trust for Claude tasks' });
    }),
  );
  return owned;
};

/** Throws BridgeCommandError. */
async function showTerminal(
  { bridge }: TaskContext,
  args: readonly string[],
  look: Pick<vscode.TerminalOptions, 'name' | 'iconPath'>,
): Promise<void> {
  const command = bridge();
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
